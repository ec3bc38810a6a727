/** What the browser keeps for the page. Where it may keep nothing, such as in a preview of a file, it is as if nothing had been saved. */
export class SavedText {
  readonly #key: string;

  constructor(
    name: string,
    private readonly storage: () => Storage,
  ) {
    this.#key = `agent-sessions-inspector-${name}`;
  }

  read(): string {
    try {
      return this.storage().getItem(this.#key) ?? '';
    } catch {
      return '';
    }
  }

  write(text: string): void {
    try {
      if (text === '') this.storage().removeItem(this.#key);
      else this.storage().setItem(this.#key, text);
    } catch {
      // It lasts as long as the page.
    }
  }
}
