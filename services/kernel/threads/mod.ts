/** Parts of the program that share one thread of their own: each thread costs 10 MB. */
export {
  type Part,
  type PartListener,
  type PartPort,
  type PartThread,
  SharedThread,
  type ThreadParts,
} from "./shared_thread.ts";
