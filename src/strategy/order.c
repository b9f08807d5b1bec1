#include "strategy/order.h"

#include <stdio.h>
#include <string.h>

#define MAX_ITEMS 12 /* 12! is the largest factorial of 32 bits */

uint32_t order_count(uint32_t n)
{
    uint32_t count = 1;

    for (uint32_t i = 2; i <= n; i++)
        count *= i;
    return count;
}

/* Each digit of the number, in the factorial system, picks one of the things that are left. */
void order_items(uint32_t number, uint32_t n, uint8_t *item)
{
    uint8_t left[MAX_ITEMS];
    uint32_t arrangements = order_count(n);

    for (uint32_t i = 0; i < n; i++)
        left[i] = (uint8_t)i;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t pick;

        arrangements /= n - i;
        pick = number / arrangements;
        number %= arrangements;
        item[i] = left[pick];
        memmove(&left[pick], &left[pick + 1], n - 1 - i - pick);
    }
}

void order_print(uint32_t number, const char *const *names, uint32_t n, uint32_t least, char *out,
                 size_t size)
{
    uint8_t item[MAX_ITEMS];
    size_t used = 0;

    order_items(number, n, item);
    while (n > least && item[n - 1] == n - 1)
        n--;
    *out = '\0';
    for (uint32_t i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? "-" : "", names[item[i]]);
}

bool order_parse(const char *text, const char *const *names, uint32_t n, uint32_t least, uint32_t *number)
{
    uint8_t left[MAX_ITEMS];
    uint32_t arrangements = order_count(n), sum = 0;

    for (uint32_t i = 0; i < n; i++)
        left[i] = (uint8_t)i;
    for (uint32_t i = 0; i < n; i++) {
        size_t length = strcspn(text, ",-");
        uint32_t pick = 0, rest = n - i;

        while (pick < rest &&
               (strlen(names[left[pick]]) != length || strncmp(text, names[left[pick]], length)))
            pick++;
        if (pick == rest)
            return false;
        arrangements /= rest;
        sum += pick * arrangements;
        memmove(&left[pick], &left[pick + 1], rest - 1 - pick);
        text += length;
        if (!*text) {
            *number = sum; /* of what is left the first one comes next: 0 more */
            return i + 1 == n || left[0] >= least;
        }
        text++;
    }
    return false;
}
