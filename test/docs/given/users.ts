/** The users of the tokens in a reader's app. */
export interface User {
  readonly id: string;
  readonly roles: readonly string[];
}

export declare function userOf(token: string | undefined): Promise<User | undefined>;
