/** One process of a server. */
export interface ServerProcess {
  /** Holds the files of the process until it is stopped. */
  readonly folder: string;
  /** Kills the process without a clean shutdown. Its files stay. */
  kill(): Promise<void>;
  /** Starts the process again on the same port and files, after `kill`. */
  restart(): Promise<void>;
}

/** A server that was started for the tests. It ends with this process at the latest. */
export interface StartedServer {
  /** The value for the variable of its kind. */
  readonly address: string;
  readonly processes: readonly ServerProcess[];
  /** Stops the server and removes its files. */
  stop(): Promise<void>;
}

/** A kind of server that tests need. */
export interface ServerKind {
  readonly name: string;
  /** The environment variable that names a server of this kind. */
  readonly variable: string;
  readonly example: string;
  /** The usual addresses of such a server, with a login without password. */
  readonly usualAddresses: readonly string[];
  /** Logs in and returns the version. Throws if the tests cannot use the server. */
  check(address: string): Promise<string>;
  /** The programs that a private server needs. */
  readonly binaries: readonly string[];
  /** The package of Debian and Ubuntu that contains the programs. */
  readonly debianPackage: string;
  /**
   * Returns a function that starts a private server with programs from these folders; undefined if a program is
   * missing.
   */
  starter(folders: readonly string[]): (() => Promise<StartedServer>) | undefined;
}

export const LOGIN_LIMIT_MS = 5_000;
