import {
  listTickets,
  type Paging,
  readTicket,
  type Ticket,
  type TicketField,
  writeTicketChange,
} from "../../services/engines/fossil/mod.ts";
import { CommandFailed, print, printText, table, visible } from "../output.ts";
import {
  printJson,
  printRest,
  reading,
  readPages,
  shortHash,
  shortTime,
  type WriteOptions,
  writingAs,
} from "./session.ts";

interface TicketOptions extends WriteOptions, Paging {
  readonly new?: boolean;
  readonly set?: readonly string[];
  readonly append?: readonly string[];
  readonly status?: string;
}

/** `muster fossil ticket`: lists the tickets, or shows one, makes one or changes one. */
export async function ticket(
  file: string,
  id: string | undefined,
  options: TicketOptions,
): Promise<void> {
  const fields = fieldsOf(options);
  if (fields.length > 0 || options.new === true) return await write(file, id, fields, options);
  if (id === undefined) return await list(file, options);
  await reading(file, ({ reader }) => {
    const found = readTicket(reader, id);
    if (options.json === true) printJson(found);
    else printTicket(found);
  });
}

async function list(file: string, { json, status, ...paging }: TicketOptions): Promise<void> {
  await reading(file, ({ reader }) => {
    const filter = status === undefined ? {} : { status };
    const result = reader.read(() =>
      readPages(paging, "tickets", (page) => listTickets(reader, { ...page, ...filter }))
    );
    if (json === true) return printJson(result);
    const rows = result.tickets.map((ticket) => [
      shortHash(ticket.uuid),
      ticket.status,
      ticket.type,
      shortTime(ticket.last_modified),
      ticket.title,
    ]);
    print(table(["ID", "STATUS", "TYPE", "CHANGED", "TITLE"], rows));
    printRest(rows.length, result.total);
  });
}

function printTicket({ uuid, fields, body, comments }: Ticket): void {
  print(`uuid: ${uuid}`);
  for (const [name, value] of Object.entries(fields)) {
    if (value !== "" && name !== "comment") print(visible(`${name}: ${value}`));
  }
  if (body !== "") {
    print();
    printText(`${body}\n`);
  }
  for (const { timestamp, user, comment } of comments) {
    print();
    print(`${shortTime(timestamp)} ${visible(user)}`);
    printText(`${comment}\n`);
  }
}

async function write(
  file: string,
  id: string | undefined,
  fields: readonly TicketField[],
  options: TicketOptions,
): Promise<void> {
  if ((id === undefined) !== (options.new === true)) {
    throw new CommandFailed("Name a ticket to change it, or give --new to make one", 2);
  }
  const written = await writingAs(
    file,
    options,
    ({ repository, reader }, author) =>
      writeTicketChange(repository, {
        ...author,
        fields,
        ...id === undefined ? {} : { ticket: readTicket(reader, id).uuid },
      }),
  );
  if (options.json === true) printJson({ uuid: written.ticket, change: written.hash });
  else print(written.ticket);
}

/** Fields of `--set name=value` and `--append name=value`. */
function fieldsOf({ set = [], append = [] }: TicketOptions): TicketField[] {
  return [
    ...set.map((text) => fieldOf(text, false)),
    ...append.map((text) => fieldOf(text, true)),
  ];
}

function fieldOf(text: string, append: boolean): TicketField {
  const equals = text.indexOf("=");
  if (equals < 1) throw new CommandFailed(`"${text}" is not of the form name=value`, 2);
  return { name: text.slice(0, equals), value: text.slice(equals + 1), append };
}
