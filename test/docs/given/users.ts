/** Whom the tokens of a reader's app stand for. */
export interface User {
  readonly id: string;
  readonly roles: readonly string[];
}

export declare function userOf(token: string | undefined): Promise<User | undefined>;
