/** Words of decisions, wishes and duties, in the languages that most conversations are in. */
const words = `
  decide decided decides decision agree agreed agrees confirm confirmed confirms approve approved accept accepted reject
  rejected cancel canceled cancelled choose chose chosen must never always need needs needed want wants wanted prefer
  prefers preferred deadline important remember instead
  entschieden beschlossen vereinbart bestätigt storniert abgelehnt muss müssen nie niemals immer wichtig brauche brauchen
  möchte möchten stattdessen
  décidé convenu confirmé annulé refusé doit doivent jamais toujours besoin préfère veux veut
  decidido acordado confirmado cancelado rechazado debe deben nunca siempre importante necesito necesita prefiero quiero
  deciso confermato annullato deve mai bisogno preferisco voglio preciso quero prefiro
  решили решено подтверждено отменить должен должны никогда всегда важно нужно хочу
`;
const tellingWords: ReadonlySet<string> = new Set(words.trim().split(/\s+/));
/** Where no space tells where a word ends. */
const UNSPACED_WORD = /决定|同意|确认|必须|需要|重要|取消|不要|截止|決定|合意|確認|必要|希望|キャンセル/u;

/** Ends as questions do, in any script; quotes and brackets may follow. */
const QUESTION = /[?？؟⸮;՞፧]["'”’»」』)\]]*$/u;

export function speaksOfDecision(text: string, terms: readonly string[]): boolean {
  return terms.some((term) => tellingWords.has(term)) || UNSPACED_WORD.test(text);
}

export function isQuestion(text: string): boolean {
  return QUESTION.test(text);
}
