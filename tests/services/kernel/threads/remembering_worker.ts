import { serveParts } from "../../../../services/kernel/threads/serve_parts.ts";
import { remembering } from "./remembering.ts";

serveParts({ one: remembering, two: remembering });
