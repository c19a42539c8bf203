/** Structural artifacts: typed values, the strict parser and the writer. Pure functions. */
export {
  isFileName,
  isReservedFileName,
  isTagName,
  isWikiTitle,
  MAX_PATH,
  nameFault,
} from "./names.ts";
export {
  caseCollision,
  foldPath,
  isGitFolder,
  isGitModules,
  isHarmfulPath,
  pathFault,
  windowsFault,
} from "./portable_paths.ts";
export { findFileCard } from "./find.ts";
export {
  explainArtifact,
  MAX_TREE_FILES,
  parseArtifact,
  type ParseOptions,
  type ParseResult,
  tooManyFiles,
} from "./parse.ts";
export { compareTags, KnownFiles } from "./rules.ts";
export { shownText, TEXT_BOUNDS, textFault } from "./text_bounds.ts";
export type {
  Artifact,
  ArtifactKind,
  Attachment,
  CherrypickCard,
  Cluster,
  Control,
  FileCard,
  FileMode,
  ForumPost,
  Manifest,
  TagCard,
  TagSign,
  Technote,
  TicketChange,
  TicketField,
  Wiki,
} from "./types.ts";
export { formatArtifact, formatParsed } from "./write.ts";
