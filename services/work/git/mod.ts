/** `git clone` and `git fetch` of projects. README.md explains how. */
export { GitDoor, type GitDoorOptions } from "./git_door.ts";
export { GrowingFile } from "./growing_file.ts";
