/** Reads the part of YAML that the files of deploy/ keep to: block mappings and lists, JSON lists, scalars on one line, merged anchors. */

interface Line {
  number: number;
  indent: number;
  text: string;
}

/** @throws Error that names the line, for everything that is not of that part. */
export function readYaml(source: string): any {
  const lines = source.split("\n").flatMap((raw, i): Line[] => {
    const text = raw.replace(/(^|\s)#.*$/, "").trimEnd();
    const indent = text.search(/\S/);
    return indent === -1 ? [] : [{ number: i + 1, indent, text: text.slice(indent) }];
  });
  const anchors = new Map<string, unknown>();
  let at = 0;
  const fault = (line: Line | undefined, what: string) =>
    new Error(`line ${line?.number ?? "at the end"}: ${what}: ${line?.text ?? ""}`);

  function block(indent: number): unknown {
    const first = lines[at];
    if (first === undefined || first.indent < indent) return null;
    return first.text.startsWith("- ") ? list(first.indent) : mapping(first.indent);
  }

  function list(indent: number): unknown[] {
    const items: unknown[] = [];
    for (let line = lines[at]; line?.indent === indent; line = lines[at]) {
      if (!line.text.startsWith("- ")) throw fault(line, "no item of a list");
      const text = line.text.slice(2);
      // An item that is a mapping goes on below its first member.
      if (isMember(text)) {
        lines[at] = { ...line, indent: indent + 2, text };
        items.push(mapping(indent + 2));
      } else {
        at++;
        items.push(scalar(text, line));
      }
    }
    if ((lines[at]?.indent ?? 0) > indent) throw fault(lines[at], "is indented too far");
    return items;
  }

  function mapping(indent: number): Record<string, unknown> {
    let merged: object = {};
    const members: Record<string, unknown> = {};
    for (let line = lines[at]; line?.indent === indent; line = lines[at]) {
      const [, key, anchor, rest = ""] =
        /^([\w./<-]+):(?: &(\w+))?(?: (.+))?$/.exec(line.text) ?? [];
      if (key === undefined) throw fault(line, "no member of a mapping");
      if (Object.hasOwn(members, key)) throw fault(line, "is there twice");
      at++;
      if (key === "<<") {
        const from = anchors.get(rest.slice(1));
        if (typeof from !== "object" || from === null) throw fault(line, "names no anchor");
        merged = from;
        continue;
      }
      members[key] = rest === "" ? block(indent + 1) : scalar(rest, line);
      if (anchor !== undefined) anchors.set(anchor, members[key]);
    }
    if ((lines[at]?.indent ?? 0) > indent) throw fault(lines[at], "is indented too far");
    return { ...merged, ...members };
  }

  const isMember = (text: string) => /^[\w./-]+:(?: |$)/.test(text);

  function scalar(text: string, line: Line): unknown {
    if (/^["[]/.test(text)) return JSON.parse(text);
    if (/^(?:true|false|\d+)$/.test(text)) return JSON.parse(text);
    // What YAML reads as something else than the text.
    if (/^[&*!|>%@`{'?-]|: |^(?:null|yes|no|on|off|~)$|^\d[\d.]*$/i.test(text))
      throw fault(line, "has to be quoted");
    return text;
  }

  const value = block(0);
  if (at < lines.length) throw fault(lines[at], "does not belong to what is before it");
  return value;
}
