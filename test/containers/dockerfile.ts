import { readFileSync } from 'node:fs';

/** A line of a Dockerfile. */
export interface Instruction {
  readonly name: string;
  readonly value: string;
}

/** The instructions from one `FROM` to the next. */
export interface Stage {
  /** Empty for the last one, which becomes the image. */
  readonly name: string;
  readonly instructions: readonly Instruction[];
}

/** A Dockerfile as far as ours need it. What it does not know is an error. */
export class Dockerfile {
  readonly stages: readonly Stage[];

  constructor(path: string) {
    this.stages = stagesOf(readFileSync(path, 'utf8'));
  }

  get #image(): Stage {
    const last = this.stages.at(-1);
    if (!last) throw new Error('The Dockerfile has no stage');
    return last;
  }

  /** What the image says with an instruction. */
  said(name: string): string {
    const found = this.#image.instructions.filter((instruction) => instruction.name === name);
    if (found.length !== 1) throw new Error(`The image has ${found.length} times ${name}`);
    return found[0]?.value ?? '';
  }

  get env(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.said('ENV').matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]));
  }

  get command(): readonly string[] {
    return wordsOf(this.said('CMD'));
  }

  get healthCheck(): readonly string[] {
    return wordsOf(this.said('HEALTHCHECK').replace(/^.*?CMD /, ''));
  }
}

function wordsOf(list: string): readonly string[] {
  return JSON.parse(list) as string[];
}

const KNOWN = /^(FROM|WORKDIR|COPY|RUN|ENV|USER|EXPOSE|STOPSIGNAL|HEALTHCHECK|CMD)$/;

function stagesOf(text: string): readonly Stage[] {
  const lines = text
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '');
  const stages: { name: string; instructions: Instruction[] }[] = [];
  for (const line of lines) {
    const [, name = '', value = ''] = /^(\S+) (.*)$/.exec(line) ?? [];
    if (!KNOWN.test(name)) throw new Error(`Not known in a Dockerfile: ${line}`);
    if (name === 'FROM') stages.push({ name: / AS (\S+)$/.exec(value)?.[1] ?? '', instructions: [] });
    else stages.at(-1)?.instructions.push({ name, value });
  }
  return stages;
}
