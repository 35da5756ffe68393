import { countCheck } from './counts.ts'

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })

/** Abbreviations behind which a sentence goes on, in languages that write them with a full stop. */
const abbreviations = new Set(
  `mr mrs ms dr prof rev gen col lt sgt capt st sen rep gov hon jr sr vs etc no vol fig figs eq ch sec pp ed eds al approx dept est inc ltd co corp
   e.g i.e a.m p.m u.s u.k cf viz jan feb mar apr jun jul aug sep sept oct nov dec
   nr bzw usw ca z z.b d d.h u u.a o.ä p ex evtl ggf inkl zzgl str abs art hr fr
   m mme mlle mm p.ex env c.-à-d sr sra srta ud uds dra pág núm av sig dott ing avv`.split(/\s+/),
)
const lastWord = /(?:^|[\s("'«“])((?:\p{L}[\p{L}-]*\.)*\p{L}[\p{L}-]*)\.\s*$/u

/** Returns true if a text ends with an abbreviation, or with the first letter of a name (`J. Smith`). */
function goesOn(text: string): boolean {
  const word = lastWord.exec(text.slice(-40))?.[1]
  return word !== undefined && (/^\p{Lu}$/u.test(word) || abbreviations.has(word.toLowerCase()))
}

/** The number of sentences. */
export const sentenceCount = countCheck({
  id: 'default.sentenceCount',
  title: 'Sentence count',
  noun: 'sentences',
  most: 99_999,
  count(text, enough) {
    let sentences = 0
    let isOpen = false
    for (const { segment } of segmenter.segment(text)) {
      const says = /[\p{L}\p{N}]/u.test(segment)
      if (says && !isOpen) sentences += 1
      if (sentences > enough) break
      isOpen = says && goesOn(segment)
    }
    return sentences
  },
  anyLength: false,
})
