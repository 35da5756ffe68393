import { SaxesParser } from 'saxes'

/** An element of a document, with the parts that SAML needs. */
export interface XmlElement {
  readonly name: string
  readonly namespace: string
  /** By their names without a prefix, in no namespace. */
  readonly attributes: ReadonlyMap<string, string>
  readonly children: readonly XmlElement[]
  /** The characters that stand directly in it. */
  readonly text: string
}

interface OpenElement extends XmlElement {
  readonly attributes: Map<string, string>
  readonly children: OpenElement[]
  text: string
}

/** A document with more than elements, attributes and characters. */
export class XmlFault extends Error {}

/** How much a document may have of each. */
interface XmlBounds {
  readonly elements: number
  readonly attributes: number
  readonly namespaces: number
}

const deepest = 60
/** The libraries that check signatures compare elements and namespaces with each other: responses come without a credential, and none needs so much. */
const boundsOfSigned: XmlBounds = { elements: 1_000, attributes: 2_000, namespaces: 200 }
/** Metadata of large federations, which callers with a right of the organisation send. */
const boundsOfUnsigned: XmlBounds = { elements: 20_000, attributes: 60_000, namespaces: 20_000 }

/**
 * Returns the root of a document of XML, which has to be well-formed. Document types, entities of one's own, comments, CDATA sections and processing
 * instructions are refused: no sender of SAML needs them, and two parsers may read them in two ways. Throws an XmlFault.
 */
export const parseStrictXml = (text: string): XmlElement => parseXml(text, 'refuse', boundsOfSigned)

/** Returns the root of a document that carries no signature: comments and processing instructions are passed over. Throws an XmlFault. */
export const parseUnsignedXml = (text: string): XmlElement => parseXml(text, 'skip', boundsOfUnsigned)

function parseXml(text: string, remarks: 'refuse' | 'skip', most: XmlBounds): XmlElement {
  const parser = new SaxesParser({ xmlns: true, fragment: false, position: false })
  const open: OpenElement[] = []
  let root: OpenElement | null = null
  const count = { elements: 0, attributes: 0, namespaces: 0 }
  const refuse = (what: string) => (): never => {
    throw new XmlFault(`the XML has ${what}`)
  }
  const addText = (characters: string) => {
    const parent = open.at(-1)
    if (parent !== undefined) parent.text += characters
  }
  parser.on('error', (error) => {
    throw new XmlFault(`the XML is not well-formed: ${error.message.slice(0, 200).replace(/\.$/, '')}`)
  })
  parser.on('doctype', refuse('a document type'))
  // The libraries make a node of each section, and join them one by one. No sender of SAML needs one in a signed document.
  parser.on('cdata', remarks === 'refuse' ? refuse('a CDATA section') : addText)
  if (remarks === 'refuse') {
    parser.on('comment', refuse('a comment'))
    parser.on('processinginstruction', refuse('a processing instruction'))
  }
  // Before the parser looks for the namespaces of all attributes of an element.
  parser.on('attribute', ({ prefix, name }) => {
    const kind = prefix === 'xmlns' || name === 'xmlns' ? 'namespaces' : 'attributes'
    count[kind] += 1
    if (count[kind] > most[kind]) throw new XmlFault('the XML is too large')
  })
  parser.on('opentag', ({ local, uri, attributes }) => {
    count.elements += 1
    if (open.length >= deepest || count.elements > most.elements) throw new XmlFault('the XML is too large')
    const plain = Object.values(attributes).filter((attribute) => attribute.uri === '')
    const element: OpenElement = {
      name: local,
      namespace: uri,
      attributes: new Map(plain.map((attribute) => [attribute.local, attribute.value])),
      children: [],
      text: '',
    }
    open.at(-1)?.children.push(element)
    root ??= element
    open.push(element)
  })
  parser.on('text', addText)
  parser.on('closetag', () => void open.pop())
  parser.write(text).close()
  if (root === null) throw new XmlFault('there is no XML')
  return root
}

/** Returns the children of this name and namespace. */
export const childrenOf = ({ children }: XmlElement, namespace: string, name: string): readonly XmlElement[] =>
  children.filter((child) => child.name === name && child.namespace === namespace)

/** Returns the only child of this name and namespace; null: there is none, or there are several. */
export function onlyChild(element: XmlElement, namespace: string, name: string): XmlElement | null {
  const [first, ...more] = childrenOf(element, namespace, name)
  return first === undefined || more.length > 0 ? null : first
}

/** Returns an element and everything in it, in the order of the document. */
export const withDescendants = (element: XmlElement): readonly XmlElement[] => [element, ...element.children.flatMap(withDescendants)]

/** Returns the characters of an element that has no children; null: there are none. */
export function textOf(element: XmlElement | null): string | null {
  const text = element === null || element.children.length > 0 ? '' : element.text.trim()
  return text === '' ? null : text
}

/** Returns an element as XML of its own, without the attributes that have a prefix. */
export function toXml({ name, namespace, attributes, children, text }: XmlElement): string {
  const named = [...attributes].map(([attribute, value]) => ` ${attribute}="${escaped(value)}"`).join('')
  return `<${name} xmlns="${escaped(namespace)}"${named}>${escaped(text)}${children.map(toXml).join('')}</${name}>`
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
