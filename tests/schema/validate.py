"""validate.py SCHEMAS DOCUMENTS: every DOCUMENTS/<command>.<n>.json against SCHEMAS/<command>.json.

The part of JSON Schema (2020-12) that the files use, so that nothing needs to be installed. A key that no schema describes
is an error here, although the schemas allow it to readers: it has to be described. A schema without a document must be one
that others refer to.
"""
import json
import pathlib
import re
import sys

KNOWN = {"$schema", "$id", "$defs", "$ref", "title", "description", "type", "properties", "required", "items", "enum",
         "anyOf", "additionalProperties"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_type(value, name):
    if name in ("integer", "number"):
        return (isinstance(value, int) or name == "number" and isinstance(value, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def resolve(folder, root, schema):
    """The schema that "$ref" means: "#/$defs/row", or of another file "row.json"."""
    while "$ref" in schema:
        name, _, place = schema["$ref"].partition("#")
        if name:
            root = json.loads((folder / name).read_text())
        schema = root
        for step in filter(None, place.split("/")):
            schema = schema[step]
    return root, schema


def errors_of(folder, root, schema, value, place):
    root, schema = resolve(folder, root, schema)
    unknown = set(schema) - KNOWN
    if unknown:
        yield f"{place}: this check does not know the schema's {sorted(unknown)}"
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_type(value, t) for t in types):
        yield f"{place}: {json.dumps(value)[:60]} is not of type {' or '.join(types)}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place}: {value!r} is none of {schema['enum']}"
    if "anyOf" in schema:
        tried = [list(errors_of(folder, root, s, value, place)) for s in schema["anyOf"]]
        if all(tried):
            # Of the alternative that it comes nearest to: one whose type it has, with the fewest errors.
            yield from min(tried, key=lambda found: (found[0].startswith(f"{place}: {json.dumps(value)[:60]} is not of"), len(found)))
    if isinstance(value, dict) and ("properties" in schema or "additionalProperties" in schema):
        known = schema.get("properties", {})
        for key in schema.get("required", []):
            if key not in value:
                yield f"{place}: '{key}' is missing"
        for key, item in value.items():
            inner = known.get(key, schema.get("additionalProperties"))
            if inner is None:
                yield f"{place}: '{key}' is not described"
            else:
                yield from errors_of(folder, root, inner, item, f"{place}.{key}")
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            yield from errors_of(folder, root, schema["items"], item, f"{place}[{i}]")


def main(schemas, documents):
    folder, failed, seen = pathlib.Path(schemas), False, set()
    for path in sorted(pathlib.Path(documents).glob("*.json")):
        command = path.name.split(".")[0]
        schema = json.loads((folder / f"{command}.json").read_text())
        try:
            found = list(errors_of(folder, schema, schema, json.loads(path.read_text()), command))
        except json.JSONDecodeError as e:
            found = [f"{path.name} is not JSON: {e}"]
        seen.add(command)
        for line in found[:20]:
            print(f"{path.name}: {line}")
        failed = failed or bool(found)
    shared = {name for path in folder.glob("*.json") for name in re.findall(r'"\$ref": "(\w+)\.json', path.read_text())}
    for path in sorted(folder.glob("*.json")):
        if path.stem not in seen | shared:
            print(f"{path.name}: no document of it was checked")
            failed = True
    print(f"{len(seen)} commands")
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
