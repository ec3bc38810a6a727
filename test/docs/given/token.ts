/** The token that a reader's client sends. */
export declare function token(): string;
