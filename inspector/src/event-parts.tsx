import type { Part } from '../../src/sessions/domain/event/content.js';
import { otherKind } from './event-kinds.js';

/** Longer text is cut in the timeline. The panel beside it has all of it. */
const MOST_CHARACTERS = 2_000;

/** Everything that users and models said is text: nothing of it becomes markup. */
export function Said(props: { readonly text: string; readonly isThought?: boolean }) {
  const { text, isThought = false } = props;
  const isCut = text.length > MOST_CHARACTERS;
  return (
    <div class={isThought ? 'said thought' : 'said'} dir="auto">
      {isCut ? text.slice(0, MOST_CHARACTERS) : text}
      {isCut && <em class="cut"> … {(text.length - MOST_CHARACTERS).toLocaleString()} more characters</em>}
    </div>
  );
}

export function EventPart(props: {
  readonly part: Part;
  /** What the tool answered, if the part is a call and the answer is near. */
  readonly answer?: unknown;
}) {
  const { part, answer } = props;
  if (typeof part.text === 'string') return <Said text={part.text} isThought={part.thought === true} />;
  if (part.functionCall) {
    const { name = '', args = {} } = part.functionCall;
    return (
      <>
        <ToolLine sign="→" label="calls" name={name} value={args} />
        {answer !== undefined && <ToolLine sign="←" label="answers" name={name} value={answer} isBeside />}
      </>
    );
  }
  if (part.functionResponse) {
    const { name = '', response } = part.functionResponse;
    return <ToolLine sign="←" label="answers" name={name} value={response} />;
  }
  return <div class="other">{otherKind(part) ?? 'part'}</div>;
}

function ToolLine(props: {
  readonly sign: string;
  readonly label: string;
  readonly name: string;
  readonly value: unknown;
  readonly isBeside?: boolean;
}) {
  return (
    <div class={props.isBeside === true ? 'tool beside-call' : 'tool'}>
      <span aria-hidden="true">{props.sign}</span>
      <span class="visually-hidden">{props.label}</span>
      <b>
        <bdi>{props.name}</bdi>
      </b>
      <code>{shortJson(props.value)}</code>
    </div>
  );
}

/** JSON in a line, cut. */
export function shortJson(value: unknown, most = 300): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > most ? `${text.slice(0, most)} …` : text;
}
