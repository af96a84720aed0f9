#include "ctidemark.h"
