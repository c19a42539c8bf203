/** Moves projects between nodes; see README.md. */
export { ArrivingCopies, type ArrivingCopiesOptions } from "./arriving_copies.ts";
export { ProjectMoves, type ProjectMovesOptions } from "./project_moves.ts";
export { ProjectRestores, type ProjectRestoresOptions } from "./project_restores.ts";
