import { writerPart } from "../../engines/database/writer.ts";
import { archivePart } from "../../chat/irc_server/history/archive_part.ts";
import { serveParts } from "../../kernel/threads/serve_parts.ts";
import type { StorageParts } from "./stores.ts";

serveParts({ database: writerPart, history: archivePart } satisfies StorageParts);
