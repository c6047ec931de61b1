/** Reads records from CSV files by a mapping, as docs/importing.md describes. */
import type { RecordFault, SourceEntry } from "#records/source-entry.ts";
import { compileMapping, type CompiledMapping } from "./compile-mapping.ts";
import { locateColumns } from "./csv-header.ts";
import { readRows, type CsvRow } from "./csv-rows.ts";
import { cellDecoder } from "./decode-cell.ts";
import type { Encoding } from "./encoding.ts";
import { ImportFault, refuseEmpty } from "./import-fault.ts";
import type { Mapping } from "./mapping.ts";
import type { ReadOptions } from "./read-options.ts";
import { shownName } from "./source-file.ts";
import { Unreadable } from "./unreadable.ts";

/**
 * One entry for each row that is not blank; a row with a cell that cannot be read is an entry with faults only.
 * @param written from `readMapping`; an encoding in the options counts before that of the mapping.
 * @throws ImportFault where a file cannot be used as a whole: no such column, a quote never closed, a row cut off.
 */
export async function* readCsv(
  files: readonly string[],
  written: Mapping,
  { encoding = written.encoding ?? "utf-8", allowsEmpty = false }: ReadOptions = {},
): AsyncGenerator<SourceEntry, void> {
  const mapping = { ...written, encoding };
  const compiled = compileMapping(mapping);
  for (const file of files) {
    const name = shownName(file);
    let readRow: ((row: CsvRow) => SourceEntry) | undefined;
    let isEmpty = true;
    for await (const row of readRows(file, mapping)) {
      if (readRow === undefined) {
        readRow = rowReader(name, row, encoding, compiled);
        continue;
      }
      isEmpty = false;
      yield readRow(row);
    }
    if (isEmpty && !allowsEmpty) refuseEmpty(name);
  }
}

function rowReader(file: string, header: CsvRow, encoding: Encoding, compiled: CompiledMapping) {
  const decode = cellDecoder(encoding);
  const names = header.cells.map((cell) => {
    const name = decode(cell);
    return name instanceof Unreadable ? "" : name;
  });
  const located = locateColumns(names, compiled.columns);
  if ("reason" in located) throw new ImportFault(file, header.line, located.reason);
  const { indexes } = located;

  return (row: CsvRow): SourceEntry => {
    const entry = { file, line: row.line, records: [], namedGps: [] };
    const shape = rowFault(file, row, header.cells.length);
    if (shape !== undefined) return { ...entry, faults: [shape] };
    const faults: RecordFault[] = [];
    const cells = indexes.map((index, slot) => {
      const cell = decode(row.cells[index] ?? "");
      if (!(cell instanceof Unreadable)) return cell;
      faults.push({ field: compiled.columns[slot] ?? "", reason: cell.reason });
      return "";
    });
    return { ...entry, ...(faults.length > 0 ? { faults } : compiled.read(cells)) };
  };
}

/** What is wrong with the row as such. */
function rowFault(file: string, row: CsvRow, columns: number): RecordFault | undefined {
  if (row.quoteFault !== "") return { field: "row", reason: row.quoteFault };
  const count = row.cells.length;
  if (count === columns) return undefined;
  const reason = `must have ${columns} cells as the header has, not ${count}`;
  if (count < columns && !row.ended)
    throw new ImportFault(file, row.line, `the last row ${reason}; the file is cut off`);
  return { field: "row", reason };
}
