/* Arrays whose length the compiler knows. */
#ifndef DSE_BASE_ARRAY_H
#define DSE_BASE_ARRAY_H

/* Elements of an array; of a pointer it would be nonsense. */
#define DSE_COUNT(array) (sizeof(array) / sizeof(array)[0])

#endif
