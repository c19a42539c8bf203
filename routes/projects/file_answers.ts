import type { Context } from "hono";
import { type OpenFile, readPart } from "../../services/work/projects/mod.ts";
import type { Asset } from "../../services/work/releases/mod.ts";
import type { AppEnv } from "../environment.ts";
import { conditionalHeaders, hasAlready, partOf } from "./answers.ts";
import { dispositionOf, UNTRUSTED } from "./content_headers.ts";

/** How to read a file. */
export interface FileSource {
  open(): Promise<OpenFile>;
  /** Called with each download of the whole file. */
  onWhole?(): Promise<void>;
}

/** Streams the bytes of an unversioned file, or a range of them. */
export async function answerFile(
  context: Context<AppEnv>,
  asset: Omit<Asset, "download_count">,
  { open, onWhole }: FileSource,
): Promise<Response> {
  const isHead = context.req.method === "HEAD";
  const { uuid, size, file } = isHead || hasAlready(context, `"${asset.uuid}"`)
    ? { uuid: asset.uuid, size: asset.file_size_bytes, file: null }
    : await open();
  const etag = `"${uuid}"`;
  const isKnown = hasAlready(context, etag);
  const part = isKnown ? null : partOf(context, { etag, size });
  if (part === null || part instanceof Response) {
    file?.close();
    return part ?? context.body(null, 304, conditionalHeaders(etag));
  }
  const { status, start, end } = part;
  const headers = {
    ...conditionalHeaders(etag),
    ...part.headers,
    "Content-Type": asset.content_type,
    "Content-Length": `${end - start}`,
    "Content-Disposition": dispositionOf("attachment", asset.name),
    ...UNTRUSTED,
  };
  if (file === null) return context.body(null, status, headers);
  if (status === 206) return context.body(await readPart(file, { start, end }), 206, headers);
  await onWhole?.().catch((error) => {
    file.close();
    throw error;
  });
  return context.body(file.readable, 200, headers);
}
