// What the demo prints.
const hasColours = process.stdout.isTTY && !process.env.NO_COLOR;
const styled = (code) => (text) => (hasColours ? `\u001B[${code}m${text}\u001B[0m` : String(text));
const bold = styled(1);
const dim = styled(2);
const green = styled(32);

let scene = 0;

export function heading(text) {
  scene += 1;
  console.log(`\n${bold(`${scene}. ${text}`)}`);
}

/** What is done. */
export const step = (text) => console.log(`   ${dim('>')} ${text}`);

/** What comes back. */
export const result = (text) => console.log(`     ${green(text)}`);

/** What somebody says. */
export const line = (who, text) => console.log(`     ${who.padEnd(7)} ${text.replaceAll('\n', `\n${' '.repeat(13)}`)}`);

export const plain = (text) => console.log(text);

/** An event as one reads it. */
export const textOf = ({ content }) => content?.parts?.map(({ text }) => text ?? '').join(' ') ?? '';

/** Who says it: a summary is nobody's. */
export const speakerOf = ({ author, actions }) => (actions?.compaction ? 'summary' : author);

/** Throws where the app does something else than this demo says. */
export function expectThat(isSo, what) {
  if (!isSo) throw new Error(`This should not happen: ${what}`);
}
