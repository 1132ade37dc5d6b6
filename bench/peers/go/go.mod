module forkjoin.invalid/peers

go 1.19
