/** A template, its variables, and its result. `safer`: the reference engine has another result, on purpose. */
export interface Case {
  readonly name: string
  readonly template: string
  readonly variables: Readonly<Record<string, unknown>>
  readonly expected: string
  readonly partials?: Readonly<Record<string, string>>
  readonly safer?: true
}

const people = { people: [{ name: 'Ada' }, { name: 'Alan' }] }

/** Mustache's features, by the table of the threat model: values, sections, partials, and forbidden properties. */
export const cases: readonly Case[] = [
  // Values.
  { name: 'text alone', template: 'Hello.', variables: {}, expected: 'Hello.' },
  { name: 'nothing', template: '', variables: {}, expected: '' },
  { name: 'a value', template: 'Hi {{name}}!', variables: { name: 'Ada' }, expected: 'Hi Ada!' },
  { name: 'blanks in a tag', template: 'Hi {{ name }}!', variables: { name: 'Ada' }, expected: 'Hi Ada!' },
  { name: 'a missing value', template: 'Hi {{name}}!', variables: {}, expected: 'Hi !' },
  { name: 'null', template: '[{{v}}]', variables: { v: null }, expected: '[]' },
  { name: 'zero', template: '[{{v}}]', variables: { v: 0 }, expected: '[0]' },
  { name: 'a fraction', template: '[{{v}}]', variables: { v: 1.5 }, expected: '[1.5]' },
  { name: 'false', template: '[{{v}}]', variables: { v: false }, expected: '[false]' },
  { name: 'an empty text', template: '[{{v}}]', variables: { v: '' }, expected: '[]' },
  { name: 'nothing is escaped', template: '{{v}}', variables: { v: `<b>"&'</b>` }, expected: `<b>"&'</b>` },
  { name: 'three braces', template: '{{{v}}}', variables: { v: '<b>' }, expected: '<b>' },
  { name: 'an ampersand', template: '{{&v}}', variables: { v: '<b>' }, expected: '<b>' },
  { name: 'a name with blanks', template: '{{phone number}}', variables: { 'phone number': '1' }, expected: '1' },
  { name: 'a dotted name', template: '{{a.b.c}}', variables: { a: { b: { c: 'x' } } }, expected: 'x' },
  {
    name: 'a dotted name whose first part an inner object hides',
    template: '[{{#a}}{{b.c}}{{/a}}]',
    variables: { a: { b: {} }, b: { c: 'no' } },
    expected: '[]',
  },
  { name: 'a dotted name of an outer object', template: '{{#a}}{{b.c}}{{/a}}', variables: { a: { x: 1 }, b: { c: 'x' } }, expected: 'x' },
  { name: 'a dotted name that ends early', template: '[{{a.b.c}}]', variables: { a: {} }, expected: '[]' },
  { name: 'an index', template: '{{a.1}}', variables: { a: ['x', 'y'] }, expected: 'y' },
  { name: 'the length of a list', template: '{{a.length}}', variables: { a: [1, 2, 3] }, expected: '3' },
  { name: 'the length of a text', template: '{{a.length}}', variables: { a: 'four' }, expected: '4' },
  { name: 'a list', template: '{{v}}', variables: { v: ['a', 'b'] }, expected: 'a,b' },
  { name: 'a list with gaps', template: '{{v}}', variables: { v: ['a', null, 1] }, expected: 'a,,1' },
  { name: 'an object', template: '{{v}}', variables: { v: { a: 1 } }, expected: '{"a":1}', safer: true },
  { name: 'a list of objects', template: '{{v}}', variables: { v: [{ a: 1 }] }, expected: '[{"a":1}]', safer: true },
  { name: 'other letters', template: '{{grüße}} {{😀}}', variables: { grüße: 'é', '😀': '😀' }, expected: 'é 😀' },
  { name: 'dollar signs', template: '{{v}}', variables: { v: "$& $1 $'" }, expected: "$& $1 $'" },
  // One pass.
  { name: 'a tag in a value', template: '{{v}}', variables: { v: '{{secret}}', secret: 's' }, expected: '{{secret}}' },
  { name: 'a section in a value', template: '{{v}}', variables: { v: '{{#a}}x{{/a}}', a: true }, expected: '{{#a}}x{{/a}}' },
  { name: 'a partial in a value', template: '{{v}}', variables: { v: '{{>p}}' }, partials: { p: 'P' }, expected: '{{>p}}' },
  { name: 'delimiters in a value', template: '{{v}}{{w}}', variables: { v: '{{=<% %>=}}', w: 'w' }, expected: '{{=<% %>=}}w' },
  { name: 'half a tag in two values', template: '{{a}}{{b}}', variables: { a: '{{sec', b: 'ret}}', secret: 's' }, expected: '{{secret}}' },
  // Sections.
  { name: 'a section of true', template: '{{#v}}yes{{/v}}', variables: { v: true }, expected: 'yes' },
  { name: 'a section of false', template: '{{#v}}yes{{/v}}', variables: { v: false }, expected: '' },
  { name: 'a section of nothing', template: '{{#v}}yes{{/v}}', variables: {}, expected: '' },
  { name: 'a section of zero', template: '{{#v}}yes{{/v}}', variables: { v: 0 }, expected: '' },
  { name: 'a section of a text', template: '{{#v}}[{{.}}]{{/v}}', variables: { v: 'x' }, expected: '[x]' },
  { name: 'a section of an empty text', template: '{{#v}}yes{{/v}}', variables: { v: '' }, expected: '' },
  { name: 'a section of an object', template: '{{#v}}{{a}}{{b}}{{/v}}', variables: { v: { a: 1 }, b: 2 }, expected: '12' },
  { name: 'a section of a list', template: '{{#people}}- {{name}} {{/people}}', variables: people, expected: '- Ada - Alan ' },
  { name: 'a section of an empty list', template: '{{#v}}yes{{/v}}', variables: { v: [] }, expected: '' },
  { name: 'a section of plain items', template: '{{#v}}<{{.}}>{{/v}}', variables: { v: [1, 'a', true] }, expected: '<1><a><true>' },
  { name: 'a section of lists', template: '{{#v}}{{#.}}{{.}}{{/.}};{{/v}}', variables: { v: [[1, 2], [3]] }, expected: '12;3;' },
  { name: 'sections in sections', template: '{{#a}}{{#b}}{{c}}{{/b}}{{/a}}', variables: { a: { b: { c: 'x' } } }, expected: 'x' },
  { name: 'a name that an inner object hides', template: '{{n}}{{#a}}{{n}}{{/a}}', variables: { n: 1, a: { n: 2 } }, expected: '12' },
  { name: 'an inner null hides too', template: '{{#a}}[{{n}}]{{/a}}', variables: { n: 1, a: { n: null } }, expected: '[]' },
  { name: 'an inverted section of nothing', template: '{{^v}}none{{/v}}', variables: {}, expected: 'none' },
  { name: 'an inverted section of an empty list', template: '{{^v}}none{{/v}}', variables: { v: [] }, expected: 'none' },
  { name: 'an inverted section of something', template: '{{^v}}none{{/v}}', variables: { v: 'x' }, expected: '' },
  { name: 'sections on lines of their own', template: 'a\n{{#v}}\nb\n{{/v}}\nc', variables: { v: true }, expected: 'a\nb\nc' },
  { name: 'a comment', template: 'a{{! no }}b', variables: {}, expected: 'ab' },
  { name: 'a comment on a line of its own', template: 'a\n  {{! no }}\nb', variables: {}, expected: 'a\nb' },
  { name: 'other delimiters', template: '{{=<% %>=}}<%v%> {{v}}', variables: { v: 'x' }, expected: 'x {{v}}' },
  // Partials.
  { name: 'a partial', template: 'a {{>p}} c', variables: { v: 'b' }, partials: { p: '{{v}}' }, expected: 'a b c' },
  { name: 'a partial by version', template: '{{>pp-p@2}}', variables: {}, partials: { 'pp-p@2': 'two' }, expected: 'two' },
  { name: 'a partial in a partial', template: '{{>a}}', variables: {}, partials: { a: '<{{>b}}>', b: 'x' }, expected: '<x>' },
  {
    name: 'a partial in a section',
    template: '{{#people}}{{>p}}{{/people}}',
    variables: people,
    partials: { p: '{{name}},' },
    expected: 'Ada,Alan,',
  },
  {
    name: 'a partial on an indented line',
    template: 'a\n  {{>p}}\nb',
    variables: {},
    partials: { p: 'x\ny\n' },
    expected: 'a\n  x\n  y\nb',
  },
  { name: 'a partial behind words', template: 'a: {{>p}}', variables: {}, partials: { p: 'x\ny' }, expected: 'a: x\ny' },
  { name: 'a partial between words', template: '- {{>p}} -', variables: {}, partials: { p: 'x\n y\nz' }, expected: '- x\n y\nz -' },
  {
    name: 'a partial behind a value',
    template: '  {{v}}  {{>p}}\n',
    variables: { v: '|' },
    partials: { p: '>\n>' },
    expected: '  |  >\n>\n',
  },
  {
    name: 'an indented partial with empty lines',
    template: '\t{{>p}}\nb',
    variables: {},
    partials: { p: 'x\n\ny\n' },
    expected: '\tx\n\n\ty\nb',
  },
  { name: 'a partial that the caller keeps', template: '{{>>mine}}', variables: { mine: '{{v}}', v: 'x' }, expected: '{{v}}', safer: true },
  // Values that a template must not reach.
  { name: 'a constructor', template: '[{{constructor}}{{constructor.name}}]', variables: {}, expected: '[]', safer: true },
  { name: 'a prototype', template: '[{{__proto__}}{{a.__proto__.b}}]', variables: { a: {} }, expected: '[]', safer: true },
  { name: 'a method', template: '[{{toString}}{{#a}}{{hasOwnProperty}}{{/a}}]', variables: { a: {} }, expected: '[]', safer: true },
  { name: 'a method of a list', template: '[{{a.join}}{{a.constructor.name}}]', variables: { a: [1] }, expected: '[]' },
  { name: 'a method of a text', template: '[{{a.trim}}{{a.at}}]', variables: { a: 'x' }, expected: '[]' },
]
