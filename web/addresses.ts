/** The addresses of a project's pages. People share them: they stay as they are. */
import { type Query, withQuery } from "./visit.ts";

/** A path inside a repository as a part of an address. */
export function encodePath(path: string): string {
  return path.split("/").map((part) => encodeURIComponent(part.toWellFormed())).join("/");
}

/** The pages of one project. A check-in is any name of one: a branch, a tag, a hash. */
export class ProjectAddresses {
  /** `/projects/SLUG`. */
  readonly home: string;
  /** The base of its repository API, which is its URL for `fossil` too. */
  readonly repository: string;

  constructor(slug: string, scm: string) {
    this.home = `/projects/${slug}`;
    this.repository = `${this.home}/${scm}`;
  }

  /** A page without a variable part, such as `/timeline`. */
  at(path: string, query: Query = {}): string {
    return withQuery(this.home + path, query);
  }

  tree(checkin: string, path = ""): string {
    return this.#below("tree", checkin, path);
  }

  file(checkin: string, path: string): string {
    return this.#below("file", checkin, path);
  }

  blame(checkin: string, path: string): string {
    return this.#below("blame", checkin, path);
  }

  /** The editor of a file. */
  edit(branch: string, path: string): string {
    return this.#below("edit", branch, path);
  }

  /** The editor of a new file in a folder. */
  newFile(branch: string, folder: string): string {
    return withQuery(this.#below("edit", branch, ""), {
      folder: folder === "" ? undefined : `${folder.toWellFormed()}/`,
    });
  }

  /** @param checkin the history ends there; by default, at the tip of the main branch */
  history(path: string, checkin?: string): string {
    return this.at(`/history/${encodePath(path)}`, { checkin });
  }

  checkin(uuid: string): string {
    return `${this.home}/checkin/${encodePart(uuid)}`;
  }

  compare(from: string, to: string): string {
    return `${this.home}/compare/${encodePart(from)}...${encodePart(to)}`;
  }

  release(tag: string): string {
    return `${this.at("/releases")}#${anchorOfRelease(tag)}`;
  }

  wiki(name: string): string {
    return `${this.home}/wiki/${encodePath(name)}`;
  }

  ticket(uuid: string): string {
    return `${this.home}/tickets/${encodePart(uuid)}`;
  }

  /** @param id of the technote, or the hash of one of its versions */
  technote(id: string): string {
    return `${this.home}/technotes/${encodePart(id)}`;
  }

  /** The bytes of a file, which a browser never runs. */
  raw(checkin: string, path: string): string {
    return withQuery(`${this.repository}/api/file`, { checkin, path: path.toWellFormed() });
  }

  /** The content of a file in Git LFS, to be saved under the name of the file. */
  lfs(oid: string, path: string): string {
    const name = path.split("/").at(-1)?.toWellFormed();
    return withQuery(`${this.repository}/api/lfs/${oid}`, { name });
  }

  /** Lines of a text file as JSON; `first` and `count` choose them. */
  lines(checkin: string, path: string): string {
    return withQuery(`${this.repository}/api/lines`, { checkin, path: path.toWellFormed() });
  }

  /** @param format `zip` or `tar.gz` */
  archive(checkin: string, format: string): string {
    return `${this.repository}/api/archive/${encodePart(checkin)}.${format}`;
  }

  asset(tag: string, name: string): string {
    return `${this.repository}/api/releases/${encodePart(tag)}/assets/${encodePart(name)}`;
  }

  badge(checkin: string): string {
    return `${this.repository}/api/status/${encodePart(checkin)}/badge.svg`;
  }

  #below(page: string, checkin: string, path: string): string {
    const rest = path === "" ? "" : `/${encodePath(path)}`;
    return `${this.home}/${page}/${encodePart(checkin)}${rest}`;
  }
}

/** The id of a release on the page of all releases. */
export function anchorOfRelease(tag: string): string {
  return `release-${encodePart(tag)}`;
}

function encodePart(part: string): string {
  return encodeURIComponent(part.toWellFormed());
}
