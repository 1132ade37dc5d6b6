// Which of oneTBB's interfaces this follows.
#pragma once

#define TBB_VERSION_MAJOR 2021
#define TBB_VERSION_MINOR 8
#define TBB_INTERFACE_VERSION 12080
#define FORKJOIN_TBB 1
