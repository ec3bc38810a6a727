import type { Part } from '../../sessions/domain/event/content.js';

/** What a vendor says of a file beside its content. */
export interface FileDescription {
  readonly mimeType?: string | undefined;
  /** Counts if neither `mimeType` nor the name tells the type. */
  readonly kind?: 'image' | 'audio' | 'video' | undefined;
  /** How names of such files end, such as `png`. Counts before the `kind`. */
  readonly format?: string | undefined;
  readonly name?: string | undefined;
  /** How closely models should look at an image, in the words of OpenAI. */
  readonly detail?: string | undefined;
}

const DATA_URL = /^data:([^,]*),(.*)$/s;
const URL = /^[a-z][a-z\d+.-]*:/i;
const UNKNOWN_TYPE = 'application/octet-stream';

/**
 * A file as vendors write it: a data URL, another URL, or base64.
 *
 * @example const part = givenFile(block.image_url, { kind: 'image' });
 */
export function givenFile(source: string, description: FileDescription = {}): Part {
  const details = toFileDetails(description);
  const [, head, body] = DATA_URL.exec(source) ?? [];
  if (head !== undefined && body !== undefined) {
    const [type] = head.split(';', 1);
    const data = head.endsWith(';base64') ? body : Buffer.from(decoded(body)).toString('base64');
    return { inlineData: { mimeType: description.mimeType || type || 'text/plain', data, ...details } };
  }
  if (URL.test(source)) {
    const mimeType = detectMimeType(source, description);
    return { fileData: { fileUri: source, ...(mimeType !== undefined && { mimeType }), ...details } };
  }
  return { inlineData: { mimeType: detectMimeType('', description) ?? UNKNOWN_TYPE, data: source, ...details } };
}

/**
 * A file that a vendor keeps, by the id that it gave it. Without a vendor, the form of the id tells it.
 *
 * @example const part = keptFile('openai', 'file-1', { name: 'invoice.pdf' });
 */
export function keptFile(vendor: string | undefined, id: string, description: FileDescription = {}): Part {
  if (vendor === undefined && URL.test(id)) return givenFile(id, description);
  const mimeType = detectMimeType('', description);
  const fileUri = `${vendor ?? vendorOf(id)}:${id}`;
  return { fileData: { fileUri, ...(mimeType !== undefined && { mimeType }), ...toFileDetails(description) } };
}

/** The vendor and the id of a {@link keptFile}. Nobody else can read it. */
export function keeperOf({ fileData }: Part): { readonly vendor: string; readonly id: string } | undefined {
  const [, vendor, id] = /^([a-z][a-z\d.-]*):(?!\/\/)(.+)$/s.exec(fileData?.fileUri ?? '') ?? [];
  const isKept = vendor !== undefined && id !== undefined && !['data', 'blob', 'urn'].includes(vendor);
  return isKept ? { vendor, id } : undefined;
}

function vendorOf(id: string): string {
  if (id.startsWith('file-')) return 'openai';
  return id.startsWith('file_') ? 'anthropic' : 'file-id';
}

/** The type of a part's file, if it has a file: as it says, or by its name. */
export function fileType({ inlineData, fileData }: Part): string | undefined {
  const file = inlineData ?? fileData;
  if (!file) return undefined;
  const name = typeof file.displayName === 'string' ? file.displayName : undefined;
  return detectMimeType(fileData?.fileUri ?? '', { mimeType: file.mimeType, name }) ?? UNKNOWN_TYPE;
}

function detectMimeType(url: string, { mimeType, kind, format, name = '' }: FileDescription): string | undefined {
  const [path = ''] = url.split(/[?#]/, 1);
  const told = (mimeType || undefined) ?? (format && typeByFormat(format, kind));
  return told ?? typeByName(name) ?? typeByName(path) ?? (kind && USUAL_TYPES[kind]);
}

function typeByName(name: string): string | undefined {
  return typeOfEnding(/\.([a-z\d]{2,5})$/i.exec(name)?.[1]?.toLowerCase() ?? '');
}

function typeByFormat(format: string, kind: FileDescription['kind']): string | undefined {
  return typeOfEnding(format) ?? (kind && `${kind}/${format}`);
}

/** The type of files whose names end like this: `png`. */
function typeOfEnding(ending: string): string | undefined {
  return Object.hasOwn(TYPES, ending) ? TYPES[ending] : undefined;
}

/** Models look at the content; only some of them refuse a file without a type. */
const USUAL_TYPES = { image: 'image/png', audio: 'audio/wav', video: 'video/mp4' } as const;

const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
  m4a: 'audio/mp4',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  mp4: 'video/mp4',
  webm: 'video/webm',
  mov: 'video/quicktime',
  pdf: 'application/pdf',
  json: 'application/json',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  doc: 'application/msword',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

function toFileDetails({ name, detail }: FileDescription): { readonly displayName?: string; readonly detail?: string } {
  return { ...(name !== undefined && { displayName: name }), ...(detail !== undefined && { detail }) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
