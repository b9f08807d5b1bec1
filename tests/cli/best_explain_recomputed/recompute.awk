# rows.csv (an export of one study), then paragraphs (what `best --explain` says, one a line): makes the sentences from
# the rows, with nothing of the program but the wording, and looks for each of them. `limit`: bytes, 0: none.

# In the program's steps: a tie such as 25.925 us rounds as they leave it.
function seconds(ns,    v, unit) {
    v = ns * 1e-9; unit = "s"
    if (v < 0.99995) { v = ns * 1e-9 / 1e-3; unit = "ms" }
    if (v < 0.99995) { v = ns * 1e-9 / 1e-6; unit = "us" }
    if (v < 0.99995) return sprintf("%.0f ns", ns)
    return sprintf(v < 9.9995 ? "%.3f %s" : v < 99.995 ? "%.2f %s" : v < 999.95 ? "%.1f %s" : "%.0f %s", v, unit)
}
function bytes(v,    i) {
    for (i = 1; v >= 999.95 && i < 7; i++)
        v /= 1000
    return sprintf(i > 1 ? "%.1f %s" : "%.0f %s", v, unit_of[i])
}
function share(part, whole) { return sprintf("%.1f%%", part / whole * 100) }
function magnitude(v) { return v < 0 ? -v : v }

function col(row, name) { return cell[row, column[name]] }
function wall(row) { return col(row, "wall_time") }
function peak(row) { return col(row, "peak_memory") }
function fits(row) { return !limit || peak(row) <= limit }
function point(row) {
    return "dp " col(row, "dp") ", tp " col(row, "tp") ", sp " col(row, "sp") ", pp " col(row, "pp") ", " \
           (col(row, "recompute") ? "recomputing" : "no recomputation") \
           (col(row, "weight_sharded") ? ", sharded weights" : "")
}

# The parts of `list` (names of columns) by size, largest first, into sorted[]; returns how many are not 0.
function sort_parts(list, n, of, against,    i, k, name, v, count) {
    count = 0
    for (i = 1; i <= n; i++) {
        name = list[i]
        v = col(of, name) - (against ? col(against, name) : 0)
        if (v == 0)
            continue
        for (k = ++count; k > 1 && magnitude(size[k - 1]) < magnitude(v); k--) {
            sorted[k] = sorted[k - 1]
            size[k] = size[k - 1]
        }
        sorted[k] = name
        size[k] = v
    }
    return count
}
function separator(i, n) { return i == n ? "" : i == n - 1 ? " and " : ", " }
function listed(from, n, whole, time,    i, s) {
    for (i = from; i <= n; i++)
        s = s words[sorted[i]] " (" (time ? seconds(size[i]) : bytes(size[i])) ", " share(size[i], whole) ")" \
            separator(i, n)
    return s
}

function step_goes(row,    n, s, i, sum) {
    n = sort_parts(step, n_step, row, 0)
    for (i = 1; i <= n; i++)
        sum += size[i]
    if (sum != wall(row))
        print "the parts of " point(row) " do not add up"
    s = (size[1] > wall(row) / 2 ? "Most" : "The largest part") " of its step of " seconds(wall(row)) " is " \
        words[sorted[1]] " (" seconds(size[1]) ", " share(size[1], wall(row)) ")"
    return s (n > 1 ? "; the rest is " listed(2, n, wall(row), 1) : "") "."
}
function against(row, other,    n, i, s, d, sum) {
    d = wall(row) - wall(other)
    s = "Its step of " seconds(wall(row)) " is "
    s = s (d ? seconds(magnitude(d)) " (" share(magnitude(d), wall(other)) ") " (d > 0 ? "longer" : "shorter") " than" \
             : "as long as") " the winner's"
    n = sort_parts(step, n_step, row, other)
    for (i = 1; i <= n; i++) {
        sum += size[i]
        s = s (i == 1 ? ": " : "") seconds(magnitude(size[i])) (size[i] > 0 ? " more" : " less") " for " \
            words[sorted[i]] separator(i, n)
    }
    if (sum != d)
        print "the differences of " point(row) " do not add up"
    return s "."
}
function peaks(owner, row,    n, i, sum, pass, s) {
    n = sort_parts(held, n_held, row, 0)
    for (i = 1; i <= n; i++)
        sum += size[i]
    if (sum != peak(row))
        print "the kinds of " point(row) " do not add up"
    pass = col(row, "peak_pass")
    s = owner " peaks at " bytes(peak(row)) ", " seconds(col(row, "peak_time")) " into the step (" \
        share(col(row, "peak_time"), wall(row)) "), in the " phrase[pass]
    if (col(row, "peak_layer") != "")
        s = s " of layer " col(row, "peak_layer")
    return s ", while " col(row, "peak_node") " runs. It holds " listed(1, n, peak(row), 0) "."
}

# Axes that differ.
function changes(a, b,    i, n) {
    for (i = 1; i <= 6; i++)
        n += col(a, axis[i]) != col(b, axis[i])
    return n
}
function nearest_sentence(    i, row, best, least, s) {
    for (i = 1; i <= n_ranked; i++) {
        least = changes(unlimited, ranked[i])
        if (!best || least < changes(unlimited, best))
            best = ranked[i]
    }
    s = " would take NPUs with at least " bytes(peak(unlimited)) " (" peak(unlimited) " bytes)."
    if (!best)
        return "No change that was tried makes it fit. It" s
    for (i = 1; i <= 4; i++)
        if (col(best, axis[i]) != col(unlimited, axis[i]))
            row = row (row ? ", " : "") axis[i] " " col(best, axis[i]) " instead of " col(unlimited, axis[i])
    for (; i <= 6; i++)
        if (col(best, axis[i]) != col(unlimited, axis[i]))
            row = row (row ? ", " : "") (col(best, axis[i]) ? "with " : "without ") axis_words[i]
    return "The smallest change (fewest axes) that makes it fit: " row ". " \
           (best == ranked[1] ? "That is the winner" : best == ranked[2] ? "That is the runner-up" \
            : "Then the step takes " seconds(wall(best)) " and " bytes(peak(best))) ". As it is, it" s
}

# The least step at a value of an axis, among all or among those that fit; 0: none. Rows are in the order of ties.
function best_at(a, value, must_fit,    row, best) {
    for (row = 1; row <= rows; row++)
        if (col(row, axis[a]) == value && (!must_fit || fits(row)) && (!best || wall(row) < wall(best)))
            best = row
    return best
}
function shape(a, n, must_fit, time,    i, row, count, up, down, v, at, before, s) {
    up = down = 1
    for (i = 1; i <= n; i++) {
        if (!(row = best_at(a, value[i], must_fit)))
            continue
        v[++count] = time ? wall(row) : peak(row)
        at[count] = (time ? seconds(v[count]) : bytes(v[count])) " at " axis[a] " " value[i]
        if (count > 1 && v[count] > v[count - 1])
            down = 0
        if (count > 1 && v[count] < v[count - 1])
            up = 0
    }
    if (count == 1)
        return "is " at[1]
    if (up && down)
        return "stays " (time ? seconds(v[1]) : bytes(v[1]))
    if (up || down)
        return (up ? "rises" : "falls") " from " at[1] " to " at[count]
    before = 1
    for (i = 2; i <= count; i++)
        if (v[i] < v[before])
            before = i
    s = "is least, " at[before] ", against "
    return s (before > 1 ? at[1] : "") (before > 1 && before < count ? " and " : "") (before < count ? at[count] : "")
}
function change(x, y, time) {
    return (time ? seconds(y) " instead of " seconds(x) : bytes(y) " instead of " bytes(x)) \
           sprintf(" (%+.1f%%)", (y - x) / x * 100)
}
function trend(a,    row, i, k, n, s, none, n_none, n_fit, differ, x, y) {
    n = 0
    for (row = 1; row <= rows; row++) {
        for (i = 1; i <= n && value[i] != col(row, axis[a]); i++)
            ;
        if (i > n)
            value[++n] = col(row, axis[a])
    }
    for (i = 2; i <= n; i++)
        for (k = i; k > 1 && value[k] + 0 < value[k - 1] + 0; k--) {
            s = value[k]; value[k] = value[k - 1]; value[k - 1] = s
        }
    if (n < 2)
        return
    for (i = 1; i <= n; i++) {
        x = best_at(a, value[i], 1)
        n_fit += x > 0
        differ = differ || x != best_at(a, value[i], 0)
        if (!x)
            none[++n_none] = axis[a] " " value[i]
    }
    if (a <= 4) {
        s = "Along " axis[a] " the best point's step " shape(a, n, 0, 1) "; its memory " shape(a, n, 0, 0) "."
        if (n_fit && differ) {
            s = s " Of the points that fit, the best one's step " shape(a, n, 1, 1)
            for (i = 1; i <= n_none; i++)
                s = s (i == 1 ? "; nothing fits at " : "") none[i] separator(i, n_none)
            s = s "."
        }
    } else {
        x = best_at(a, 0, 0); y = best_at(a, 1, 0)
        s = "With " axis_words[a] " the best point's step is " change(wall(x), wall(y), 1) ", its memory " \
            change(peak(x), peak(y), 0) "."
        x = best_at(a, 0, 1); y = best_at(a, 1, 1)
        if (differ && x && y)
            s = s " Of the points that fit, the best one's step is " change(wall(x), wall(y), 1) "."
        else if (differ && n_fit)
            s = s " Nothing fits " (x ? "with " : "without ") axis_words[a] "."
    }
    expect(s)
}

function expect(sentence,    i) {
    n_expected++
    for (i = 1; i <= n_said; i++)
        if (index(said[i], sentence))
            return
    print "not said: " sentence
}

BEGIN {
    FS = ","
    split("B kB MB GB TB PB EB", unit_of, " ")
    n_step = split("step_compute_bound step_memory_bound step_compute_other step_comm_dp step_comm_tp step_comm_sp " \
                   "step_comm_pp step_comm_mixed step_idle", step, " ")
    n_held = split("peak_weights peak_weight_gradients peak_updated_weights peak_activations peak_recomputed " \
                   "peak_activation_gradients peak_inputs", held, " ")
    split("compute-bound compute,memory-bound compute,compute without a roofline and fixed costs,communication along dp," \
          "communication along tp,communication along sp,communication along pp," \
          "communication along several dimensions,idle time", step_words, ",")
    split("weights,gradients of weights,updated weights,activations,recomputed activations," \
          "gradients of activations,inputs", held_words, ",")
    for (i = 1; i <= n_step; i++)
        words[step[i]] = step_words[i]
    for (i = 1; i <= n_held; i++)
        words[held[i]] = held_words[i]
    split("dp tp sp pp recompute weight_sharded", axis, " ")
    axis_words[5] = "recomputation"
    axis_words[6] = "sharded weights"
    phrase["forward"] = "forward pass"
    phrase["backward"] = "backward pass"
    phrase["recomputation"] = "recomputation"
    phrase["update"] = "update of the weights"
}
FNR == NR && FNR == 1 {
    for (i = 1; i <= NF; i++)
        column[$i] = i
    next
}
FNR == NR {
    rows++
    for (i = 1; i <= NF; i++)
        cell[rows, i] = $i
    next
}
{ said[++n_said] = $0 }

END {
    for (row = 1; row <= rows; row++) {
        if (!unlimited || wall(row) < wall(unlimited))
            unlimited = row
        if (!fits(row))
            continue
        for (k = ++n_ranked; k > 1 && wall(ranked[k - 1]) > wall(row); k--)
            ranked[k] = ranked[k - 1]
        ranked[k] = row
    }
    if (n_ranked)
        expect("The winner" (limit ? " of what fits" : "") " is " point(ranked[1]) ". " step_goes(ranked[1]))
    if (n_ranked)
        expect(peaks("The winner's memory", ranked[1]))
    if (n_ranked > 1)
        expect("The runner-up is " point(ranked[2]) ". " against(ranked[2], ranked[1]))
    if (unlimited != ranked[1]) {
        expect((n_ranked ? "" : "Nothing fits. ") "Without the limit " point(unlimited) " would win. " \
               (n_ranked ? against(unlimited, ranked[1]) : step_goes(unlimited)) " It needs " bytes(peak(unlimited)) \
               " of memory, " bytes(peak(unlimited) - limit) " more than the limit of " bytes(limit) ".")
        expect(nearest_sentence())
        expect(peaks("The memory of the best without the limit", unlimited))
    }
    for (a = 1; a <= 6; a++)
        trend(a)
    print n_ranked + 0 " of " rows " points fit; " n_expected " paragraphs"
}
