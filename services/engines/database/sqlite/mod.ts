/** What modules with a SQLite file of their own share. It loads nothing but `node:sqlite`. */
export { FolderLock, FolderLockError } from "./folder_lock.ts";
export {
  isDatabase,
  isLocked,
  isTrouble,
  openToRead,
  readDatabase,
  reasonOfSqlite,
  rollBack,
} from "./connections.ts";
