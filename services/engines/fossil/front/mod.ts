/**
 * A second door, for a program that leaves its repositories to workers: the pool, and what is said
 * about repositories without opening one. It loads nothing of what reads and writes them.
 */
export { encodeUtf8 } from "../codec/text.ts";
export { MAX_ARTIFACT_BYTES } from "../codec/blob.ts";
export { isCustomTicketFieldName, TICKET_FIELD_TYPES } from "../content/ticket_columns.ts";
export { WORK_BOUNDS, WORK_FIELDS } from "../content/ticket_work.ts";
export {
  describeError,
  errorCodeOf,
  FossilError,
  type FossilErrorCode,
  isFromSystem,
} from "../error.ts";
export { MAX_PATH } from "../artifact/names.ts";
export { shownText, TEXT_BOUNDS } from "../artifact/text_bounds.ts";
export { LFS_FOLDER, lfsFileOf } from "../read/lfs_pointer.ts";
export { MAX_FILE_LINES, TICKET_ORDERS } from "../read/bounds.ts";
export { companionPath, packPath } from "../git/door/schema.ts";
export { searchIndexPath } from "../search/shapes.ts";
export { failedAnswer } from "../sync/failed_answer.ts";
export {
  clientMessage,
  LOGIN_COOKIE,
  LOGIN_HEAD_BYTES,
  peekLogin,
  signNonce,
} from "../sync/login_card.ts";
export { contentTypeOf, messageFormOf, unpackMessage } from "../sync/request.ts";
export { surveyMessage } from "../sync/survey.ts";
export { matchesGlob } from "../text/glob.ts";
export { addTo, TextMap, TextSet } from "../text/text_map.ts";
export { errorOf } from "../workers/failures.ts";
export { WRITE_NAMES, type WriteName } from "../workers/operation_names.ts";
export { type PoolOptions, RepositoryPool, repositoryProcesses } from "../workers/pool.ts";
