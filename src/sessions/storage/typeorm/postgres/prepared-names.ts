/** Statements with more values vary in length, and would fill the server's memory with plans that are used once. */
const MOST_VALUES = 16;

const names = new Map<string, string>();

/** The name under which a server is to remember how to run a statement, if it is worth that. */
export function preparedName(text: string, values: number): string | undefined {
  if (values === 0 || values > MOST_VALUES) return undefined;
  let name = names.get(text);
  if (name === undefined) {
    name = `agent_sessions_${names.size}`;
    names.set(text, name);
  }
  return name;
}
