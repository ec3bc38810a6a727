/** What the model answers where the contract wants an error. */
export class Refusal extends Error {
  constructor(readonly code: string) {
    super(code);
  }
}
