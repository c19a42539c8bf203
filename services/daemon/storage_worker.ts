import { writerPart } from "../database/writer.ts";
import { archivePart } from "../irc_server/history/archive_part.ts";
import { serveParts } from "../threads/serve_parts.ts";
import type { StorageParts } from "./storage.ts";

serveParts({ database: writerPart, history: archivePart } satisfies StorageParts);
