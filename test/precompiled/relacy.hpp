#include "test/model/relacy.hpp"
