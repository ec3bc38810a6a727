/** Sentences of two users of an app, by session, in five languages. */
export const CONVERSATIONS: Readonly<Record<string, readonly string[]>> = {
  english: [
    'My parcel from Portland never arrived, can you track it?',
    'The invoice INV-2024-0017 charges me twice for the same subscription.',
    'Please book a table for four people near the harbour on Friday evening.',
    'Our naïve cache warms up too slowly after each deployment.',
    'I am allergic to peanuts and shellfish, remember that for every recipe.',
    'The thermostat in the greenhouse reports forty degrees at night.',
    'Could you translate the lease agreement before we sign it?',
    'My sister Geraldine moves to Edinburgh in September.',
    'How do I reset the password of the admin@example.com account?',
    'The marathon training plan has too many rest days.',
  ],
  german: [
    'Ich möchte meine Krankenversicherung zum Jahresende kündigen.',
    'Die Waschmaschine schleudert nicht mehr und im Keller steht Wasser.',
    'Für die Straßenbahn nach Köln brauche ich zwei Fahrkarten.',
    'Der Steuerberater verlangt die Rechnungen aus dem letzten Quartal.',
    'Unser Hund Waldemar frisst seit gestern nichts.',
    'Wann beginnt die Elternversammlung in der Grundschule?',
    'Die Geschwindigkeitsbegrenzung auf der Autobahn gilt nur nachts.',
    'Bitte schreibe eine Kündigungsbestätigung für den Mietvertrag.',
    'Das Rezept für Apfelstrudel braucht mehr Zimt.',
    'Meine Großmutter feiert im März ihren achtzigsten Geburtstag.',
  ],
  french: [
    'Je voudrais réserver une chambre d’hôtel à Besançon pour trois nuits.',
    'Le garçon a oublié son parapluie dans le train de Marseille.',
    'Où est la facture d’électricité du mois de février ?',
    'Ma mère préfère les crêpes au sarrasin avec du fromage.',
    'Il faut remplacer les pneus de la voiture avant l’hiver.',
    'La réunion des actionnaires est reportée à jeudi.',
    'Peux-tu corriger l’orthographe de ma lettre de motivation ?',
    'Le chat de la voisine a encore renversé les géraniums.',
    'El niño necesita una montaña de cuadernos para el colegio.',
    'Mañana visitamos la catedral de Santiago con mi abuela.',
  ],
  russian: [
    'Мне нужно заказать билет на поезд до Казани.',
    'Посылка застряла на таможне уже вторую неделю.',
    'Ёлка стоит в гостиной с середины декабря.',
    'Врач назначил мне новые таблетки от давления.',
    'Сколько стоит аренда квартиры возле университета?',
    'Бабушка печёт пироги с капустой каждую субботу.',
    'Переведи договор на английский язык, пожалуйста.',
    'Холодильник шумит и не морозит продукты.',
    'Дочка выиграла олимпиаду по математике.',
    'Электричка до аэропорта опаздывает на двадцать минут.',
  ],
  chineseJapanese: [
    '我想订一张去上海的机票,下周三出发。',
    '请帮我取消明天下午的牙医预约。',
    '这台洗衣机的保修期还有多久?',
    '我的女儿对花生过敏,做饭时请注意。',
    '公司的年度财务报告什么时候公布?',
    '京都のホテルを二泊予約したいです。',
    '新幹線の切符をキャンセルできますか。',
    '母の誕生日にケーキを注文しました。',
    'コンピューターが起動しなくなりました。',
    '来週の会議の議事録を送ってください。',
  ],
};

/** What is searched, and the sentence that must be found: the conversation, and its place in it, from 1. */
export interface ExpectedHit {
  readonly text: string;
  readonly session: string;
  readonly seq: number;
}

const hit =
  (session: string) =>
  (seq: number, text: string): ExpectedHit => ({ text, session, seq });

const english = hit('english');
const german = hit('german');
const french = hit('french');
const russian = hit('russian');
const asian = hit('chineseJapanese');

/** Fifty searches: inflected words, parts of long words, other cases and accents, numbers, and scripts without spaces. */
export const SEARCHES: readonly ExpectedHit[] = [
  english(1, 'portland parcel'),
  english(2, 'INV-2024-0017'),
  english(3, 'HARBOUR table'),
  english(4, 'naive cache'),
  english(5, 'peanut'),
  english(6, 'greenhouse thermo'),
  english(7, 'lease agree'),
  english(8, 'geraldine edinburgh'),
  english(9, 'admin@example.com'),
  english(10, 'marathon'),
  german(1, 'Versicherung'),
  german(2, 'waschmaschine keller'),
  german(3, 'strassenbahn koln'),
  german(4, 'Steuer'),
  german(5, 'WALDEMAR'),
  german(6, 'Versammlung Grundschule'),
  german(7, 'Begrenzung'),
  german(8, 'Bestätigung'),
  german(9, 'apfelstrudel zimt'),
  german(10, 'großmutter märz'),
  french(1, 'hotel besancon'),
  french(2, 'garcon parapluie'),
  french(3, 'facture électricité'),
  french(4, 'crepe fromage'),
  french(5, 'pneu voiture'),
  french(6, 'actionnaires'),
  french(7, 'lettre motivation'),
  french(8, 'GERANIUM'),
  french(9, 'nino montana'),
  french(10, 'catedral santiago'),
  russian(1, 'билет Казан'),
  russian(2, 'посылк таможн'),
  russian(3, 'елка декабря'),
  russian(4, 'ТАБЛЕТКИ'),
  russian(5, 'квартир университет'),
  russian(6, 'печет пирог'),
  russian(7, 'договор английский'),
  russian(8, 'холодильник'),
  russian(9, 'олимпиад'),
  russian(10, 'аэропорт'),
  asian(1, '机票'),
  asian(2, '牙医预约'),
  asian(3, '洗衣机 保修'),
  asian(4, '花生过敏'),
  asian(5, '财务报告'),
  asian(6, 'ホテル 予約'),
  asian(7, '新幹線'),
  asian(8, '誕生日 ケーキ'),
  asian(9, 'コンピューター'),
  asian(10, '議事録'),
];

/** Questions as people and models ask them, of which no sentence has all words. */
export const QUESTIONS: readonly ExpectedHit[] = [
  english(5, 'Which food is the user allergic to, are peanuts a problem?'),
  german(2, 'Was war nochmal mit der Waschmaschine los?'),
  french(8, 'Qu’est-ce que le chat a fait avec les géraniums ?'),
  russian(1, 'Куда мне нужен был билет на поезд?'),
  asian(2, '明天下午要看牙医吗?'),
];
