/** The forums of projects: threads, and the posts in them. */
export { Forum, type ForumWriter, type WrittenPost } from "./forum.ts";
