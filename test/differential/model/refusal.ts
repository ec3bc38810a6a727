/** The error of the model where the contract requires one. */
export class Refusal extends Error {
  constructor(readonly code: string) {
    super(code);
  }
}
