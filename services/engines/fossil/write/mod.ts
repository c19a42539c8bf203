/** Writing: small functions that each create one artifact. */
export { type NewAttachment, writeAttachment } from "./attachment.ts";
export { type Author, writeAs } from "./author.ts";
export {
  fileCards,
  isOpenLeaf,
  type MakeTree,
  manifestOf,
  type NewBranch,
  type NewCheckin,
  writeBranch,
  writeCheckin,
  writeTree,
} from "./checkin.ts";
export { writeClusters } from "./cluster.ts";
export { type NewTechnote, type NewWiki, writeTechnote, writeWiki } from "./document.ts";
export { type NewForumPost, writeForumPost } from "./forum.ts";
export { type Place, placeCheckin, type PlaceRequest } from "./place.ts";
export { cancelRelease, type NewRelease, writeRelease } from "./release.ts";
export {
  amendCheckin,
  type Amendment,
  type BranchMove,
  branchOf,
  moveToBranch,
  type TagChange,
  writeTags,
} from "./tags.ts";
export {
  closeTicket,
  type NewTicketChange,
  writeTicketChange,
  type WrittenTicketChange,
} from "./ticket.ts";
export { addTicketField, type NewTicketField, removeTicketField } from "./ticket_fields.ts";
export { changeTree, type FileChange, type PutFile } from "./tree.ts";
export {
  importUnversioned,
  nameOfFile,
  type NewUnversioned,
  prepareUnversioned,
  type ReceivedUnversioned,
  receiveUnversioned,
  removeUnversioned,
  writeUnversioned,
} from "./unversioned.ts";
