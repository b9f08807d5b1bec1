#include "unit/network/nets.h"

#include "draw/layout.h"

static const char *const networks[] = {
    "Ring 2",
    "Ring 3",
    "Ring 8",
    "Ring 33",
    "Switch 2",
    "Switch 9",
    "Switch 64",
    "FullyConnected 8",
    "Mesh2D 4x4",
    "Mesh2D 1x5",
    "Torus2D 3x5",
    "Mesh3D 3x3x3",
    "Torus3D 4x4x4",
    "Torus3D 2x1x3",
    "Hypercube 2",
    "Hypercube 4",
    "Hypercube 16",
    "Hypercube 256",
    "FullyConnected 8, Switch 2",
    "Ring 4, Ring 4, Ring 4",
    "Mesh2D 4x4, Switch 4",
    "Ring 2, Mesh3D 3x3x3",
    "Switch 40, Torus2D 3x3",
    "Torus2D 4x3, Hypercube 16",
};

static bool overlap(const draw_level *l, uint32_t a, uint32_t b)
{
    return fabs(l->cell[a].x - l->cell[b].x) < l->cell_w && fabs(l->cell[a].y - l->cell[b].y) < l->cell_h;
}

CLAIM(no_two_cells_overlap_and_all_are_inside)
{
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        net_network net = nets_make(networks[i]);
        draw_layout layout;
        dse_arena arena;

        dse_arena_init(&arena);
        draw_layout_make(&net, &arena, &layout);
        for (uint32_t d = 0; d < layout.n_levels; d++) {
            const draw_level *l = &layout.level[d];

            for (uint32_t a = 0; a < l->dim->shape.n; a++) {
                draw_point corner = draw_corner(l, a);

                assert_true(corner.x >= -1e-9 && corner.x + l->cell_w <= l->w + 1e-9);
                assert_true(corner.y >= -1e-9 && corner.y + l->cell_h <= l->h + 1e-9);
                for (uint32_t b = 0; b < a; b++)
                    if (overlap(l, a, b))
                        fail_msg("%s: cells %u and %u of dimension %u overlap", networks[i], a, b, d);
            }
            if (d > 0) /* the level below fits into a cell */
                assert_true(l->cell_w > layout.level[d - 1].w && l->cell_h > layout.level[d - 1].h);
        }
        dse_arena_free(&arena);
    }
}

/* 4 by 4: 0 to 3 goes around a row, 1 to 13 around a column, 0 to 1 and 0 to 4 around nothing. */
CLAIM(what_wraps_goes_around_its_axis)
{
    net_network net = nets_make("Torus2D 4x4");
    draw_layout layout;
    dse_arena arena;

    dse_arena_init(&arena);
    draw_layout_make(&net, &arena, &layout);
    assert_int_equal(draw_axis_around(&layout.level[0], 0, 3), 0);
    assert_int_equal(draw_axis_around(&layout.level[0], 13, 1), 1);
    assert_true(draw_axis_around(&layout.level[0], 0, 1) == DSE_NONE);
    assert_true(draw_axis_around(&layout.level[0], 0, 4) == DSE_NONE);
    dse_arena_free(&arena);
}

/* NPU 6 of 4 by 4 is two columns right of 4 and one row below 2. */
CLAIM(a_mesh_is_drawn_by_its_columns_and_rows)
{
    net_network net = nets_make("Mesh2D 4x4");
    draw_layout layout;
    dse_arena arena;
    const draw_point *cell;

    dse_arena_init(&arena);
    draw_layout_make(&net, &arena, &layout);
    cell = layout.level[0].cell;
    assert_double(cell[6].y, cell[4].y);
    assert_double(cell[6].x, cell[2].x);
    assert_true(cell[6].x > cell[5].x && cell[6].y > cell[2].y);
    dse_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_two_cells_overlap_and_all_are_inside),
        cmocka_unit_test(what_wraps_goes_around_its_axis),
        cmocka_unit_test(a_mesh_is_drawn_by_its_columns_and_rows),
    };
    return RUN_TESTS(tests);
}
