// Whether AddressSanitizer watches this file.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define FORKJOIN_ADDRESSES_ARE_CHECKED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FORKJOIN_ADDRESSES_ARE_CHECKED
#endif
#endif
