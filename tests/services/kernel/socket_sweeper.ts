/** Removes old sockets, for a test with a folder of its own for temporary files. */
import { removeLeftSockets } from "../../../services/kernel/process_port.ts";

await removeLeftSockets();
