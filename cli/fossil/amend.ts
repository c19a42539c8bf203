import { amendCheckin, resolveCheckin } from "../../services/fossil/mod.ts";
import { print } from "../output.ts";
import { printJson } from "./format.ts";
import { type WriteOptions, writingAs } from "./session.ts";

interface AmendOptions extends WriteOptions {
  readonly message?: string;
  readonly author?: string;
  readonly date?: number;
  readonly branch?: string;
  readonly color?: string;
  readonly close?: boolean;
  readonly reopen?: boolean;
  readonly hide?: boolean;
  readonly show?: boolean;
}

/**
 * `muster fossil amend`: changes the displayed properties of a check-in, not the check-in itself.
 */
export async function amend(file: string, name: string, options: AmendOptions): Promise<void> {
  const { message, author: newUser, date, branch, color, close, reopen, hide, show } = options;
  const uuid = await writingAs(
    file,
    options,
    ({ repository, reader }, author) =>
      amendCheckin(repository, {
        ...author,
        checkin: resolveCheckin(reader, name).uuid,
        ...message === undefined ? {} : { comment: message },
        ...newUser === undefined ? {} : { newUser },
        ...date === undefined ? {} : { newDate: date },
        ...branch === undefined ? {} : { branch },
        ...color === undefined ? {} : { color: color === "" ? null : color },
        ...close === undefined && reopen === undefined ? {} : { closed: close === true },
        ...hide === undefined && show === undefined ? {} : { hidden: hide === true },
      }),
  );
  if (options.json === true) printJson({ uuid });
  else print(uuid);
}
