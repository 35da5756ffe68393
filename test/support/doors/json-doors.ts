import { readAbilityList } from '../../../src/app/prices/ability-list.ts'
import { readPriceList } from '../../../src/app/prices/read-list.ts'
import { jsonIn } from '../../../src/gateway/checks/default/json-in-text.ts'
import { JsonScan } from '../../../src/gateway/dialects/json-scan.ts'
import { answerOfStream } from '../../../src/gateway/dialects/stream-whole.ts'
import { replaceModel, stringsOf } from '../../../src/gateway/wire/body.ts'
import { exactJson, parseExact, rememberExact } from '../../../src/lib/json/exact-json.ts'
import { editJson } from '../../../src/lib/json/json-edit.ts'
import { findJsonFault } from '../../../src/lib/json/json-fault.ts'
import { jsonOrUndefined, parseJson } from '../../../src/lib/json/json.ts'
import { repeatedKey, saysMore } from '../../../src/lib/json/repeated-key.ts'
import { type Door, repeated, refusing } from './door.ts'

/** Texts that look like JSON, and cost the one who reads them most. */
const odd: Readonly<Record<string, (length: number) => string>> = {
  'brackets that open': (length) => repeated('[', length),
  'objects that open': (length) => repeated('{"a":', length),
  'brackets that open and close': (length) => repeated('[', length / 2) + repeated(']', length / 2),
  'objects that open and close': (length) => `${repeated('{"a":', (length * 5) / 6)}1${'}'.repeat(Math.round(length / 6))}`,
  quotes: (length) => repeated('"', length),
  'backslashes in a string': (length) => `"${repeated('\\\\', length)}"`,
  'quotes in a string': (length) => `"${repeated(String.raw`\"`, length)}"`,
  'a string without end': (length) => `["${repeated('x', length)}`,
  digits: (length) => repeated('1', length),
  'white space': (length) => `[${repeated(' \n', length)}`,
}

/** Texts that are JSON. */
const whole: Readonly<Record<string, (length: number) => string>> = {
  'empty objects': (length) => `[${repeated('{},', length)}{}]`,
  'one key many times': (length) => `{${repeated('"a":1,', length)}"a":1}`,
  'many keys': (length) => `{${Array.from({ length: length / 12 }, (_, at) => `"k${at}":{}`).join(',')}}`,
  'numbers of many digits': (length) => `[${repeated('12345678901234567890.10,', length)}1]`,
  'keys that are numbers': (length) => `[${repeated('{"1":0,"0":1},', length)}1]`,
  'lists of one number': (length) => `[${repeated('[1.0],', length)}1]`,
  'one long string': (length) => `{"a":"${repeated('é', length / 2)}"}`,
}

const reading = (texts: typeof odd, read: (text: string) => unknown): Door['shapes'] =>
  Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [
      name,
      (bytes: number) => {
        const made = text(bytes)
        return refusing(() => read(made))
      },
    ]),
  )

const noneBuiltIn = { file: () => null }
const inModels = (text: string): string => `{"models":${text}}`

/** The readers of JSON. */
export const jsonDoors: readonly Door[] = [
  { name: 'the body of a request', shapes: reading({ ...odd, ...whole }, (text) => parseJson(Buffer.from(text))) },
  {
    name: 'the bodies of requests, with all their digits',
    shapes: reading(whole, (text) => {
      const bytes = Buffer.from(`{"a":${text}}`)
      // What an earlier body has left behind may not burden a later one.
      for (let times = 0; times < 4; times += 1) parseJson(bytes, undefined, rememberExact)
    }),
  },
  { name: 'the fault of a body', shapes: reading(odd, findJsonFault) },
  { name: 'an answer', shapes: reading({ ...odd, ...whole }, jsonOrUndefined) },
  { name: 'an answer with all its digits', shapes: reading({ ...odd, ...whole }, (text) => exactJson(parseExact(text))) },
  { name: 'a key that comes twice', shapes: reading(whole, (text) => repeatedKey(text, JSON.parse(text))) },
  { name: 'more than a value says', shapes: reading(whole, (text) => saysMore(Buffer.from(text), JSON.parse(text))) },
  { name: 'a change of a text', shapes: reading(whole, (text) => editJson(text, [{ path: ['a'], value: 2 }])) },
  { name: 'another model in a body', shapes: reading(whole, (text) => replaceModel(Buffer.from(text), 'a', 'b')) },
  { name: 'the texts of a key', shapes: reading(whole, (text) => stringsOf(Buffer.from(text), (key) => key === 'a')) },
  {
    name: 'the arguments of a call that come in pieces',
    shapes: reading({ ...odd, ...whole }, (text) => {
      const scan = new JsonScan()
      for (let at = 0; at < text.length; at += 7) scan.push(text.slice(at, at + 7))
    }),
  },
  { name: 'JSON within a text', shapes: reading({ ...odd, ...whole }, (text) => jsonIn(text, { everywhere: true })) },
  {
    name: 'a list of prices',
    shapes: reading({ ...odd, ...whole }, (text) => [
      refusing(() => readPriceList(Buffer.from(text), 'x', noneBuiltIn))(),
      readPriceList(Buffer.from(inModels(text)), 'x', noneBuiltIn),
    ]),
  },
  { name: 'a list of abilities', shapes: reading({ ...odd, ...whole }, (text) => readAbilityList(Buffer.from(text))) },
  {
    name: 'a stream that is read at its end',
    shapes: reading(
      {
        'many frames': (length) => repeated('data: {"choices":[{"delta":{"content":"a"}}]}\n\n', length),
        'many lines': (length) => repeated('data:\n', length),
        'one frame of brackets': (length) => `data: ${repeated('[', length)}`,
      },
      answerOfStream,
    ),
  },
]
