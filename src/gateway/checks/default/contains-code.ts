import { z } from 'zod'
import { check, notField, textOf, verdict } from '../check.ts'

/** The language names that Markdown's fenced code blocks carry: name of the parameter -> names in a fence. */
const fenceNames = {
  SQL: ['sql', 'postgresql', 'mysql', 'plsql'],
  Python: ['python', 'py', 'python3'],
  TypeScript: ['typescript', 'ts', 'tsx'],
  JavaScript: ['javascript', 'js', 'jsx', 'mjs'],
  Java: ['java'],
  'C#': ['csharp', 'cs', 'c#'],
  'C++': ['cpp', 'c++', 'cc', 'cxx'],
  C: ['c'],
  Ruby: ['ruby', 'rb'],
  PHP: ['php'],
  Swift: ['swift'],
  Kotlin: ['kotlin', 'kt'],
  Go: ['go', 'golang'],
  Rust: ['rust', 'rs'],
  Scala: ['scala'],
  R: ['r'],
  Perl: ['perl', 'pl'],
  Shell: ['shell', 'sh', 'bash', 'zsh', 'console'],
  HTML: ['html'],
  CSS: ['css', 'scss', 'less'],
  XML: ['xml'],
  JSON: ['json', 'jsonc'],
  YAML: ['yaml', 'yml'],
  Markdown: ['markdown', 'md'],
  Dockerfile: ['dockerfile', 'docker'],
} as const satisfies Record<string, readonly string[]>

type Format = keyof typeof fenceNames
const formats = z.enum(Object.keys(fenceNames).filter((name): name is Format => Object.hasOwn(fenceNames, name)))

const openFence = /^[ \t]{0,3}(?:```+|~~~+)[ \t]*([\w+#.-]+)/gm

/** Checks whether the text has a code block of a language. */
export const containsCode = check({
  id: 'default.containsCode',
  title: 'Contains code',
  about: 'Passes when a fenced code block of the language is in the texts.',
  fields: { format: formats.meta({ description: 'The language.' }), not: notField },
  ready({ format, not }) {
    const names = new Set<string>(fenceNames[format])
    return {
      judgesPrefix: not,
      run(subject) {
        const foundFormats = [...textOf(subject).matchAll(openFence)].map(([, name = '']) => name.toLowerCase())
        const found = foundFormats.some((name) => names.has(name))
        return verdict(found !== not, `${found ? 'A' : 'No'} code block in ${format} was found.`, {
          searchedFormat: format,
          foundFormats,
          not,
        })
      },
    }
  },
})
