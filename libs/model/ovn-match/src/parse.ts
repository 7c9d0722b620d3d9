import { fields, type Field } from './fields.ts'
import { Lexer, MatchSyntax, type NumberToken, type Token } from './lexer.ts'
import { isRelation, turned, type Relation } from './relation.ts'

/** OVN reads 100, with those that ovn-northd puts around an expression. */
const deepest = 90

/** Constants that a field is compared with. */
interface Constants {
  readonly all: readonly Token[]
  readonly isOfText: boolean
  readonly numbers: readonly NumberToken[]
  readonly inBraces: boolean
}

/** A field, or some of its bits. */
export interface Bits extends Field {
  readonly name: string
  readonly bits: number
  /** Whether bits are named, be it all of them. */
  readonly isPart: boolean
}

/** A match as it is written, but for parentheses. */
export type Expression =
  | { readonly kind: 'truth'; readonly isTrue: boolean }
  /** A field or predicate that stands alone. */
  | { readonly kind: 'field'; readonly field: Bits }
  | {
      readonly kind: 'comparison'
      readonly field: Bits
      readonly relation: Relation
      readonly constants: readonly Token[]
    }
  /** Whether a port is on the chassis. */
  | { readonly kind: 'residence' }
  | { readonly kind: 'not'; readonly operand: Expression }
  | { readonly kind: 'and' | 'or'; readonly operands: readonly Expression[] }

/**
 * Reads a text that is one match expression, as ovn-controller would read it.
 *
 * Whether address sets and port groups exist is not checked.
 *
 * @throws MatchSyntax
 * @see ovn-sb(5), Logical_Flow, match; lib/expr.c of OVN
 */
export function parseMatch(text: string): Expression {
  const lexer = new Lexer(text)
  const expression = new Parser(lexer).expression()
  if (lexer.token.kind !== 'end') throw unexpected(lexer.token, 'the end, && or ||')
  return expression
}

function unexpected(token: Token, wanted: string): MatchSyntax {
  return new MatchSyntax(`write ${wanted} in place of ${token.kind === 'end' ? 'the end' : token.text}`)
}

/** What can stand behind `!`, without parentheses only where it is atomic. */
interface Primary {
  readonly expression: Expression
  readonly isAtomic: boolean
}

class Parser {
  readonly #lexer: Lexer
  #isNegated = false
  #depth = 0

  constructor(lexer: Lexer) {
    this.#lexer = lexer
  }

  /** @throws MatchSyntax as all of them */
  expression(): Expression {
    const first = this.#negation()
    const operator = ['&&', '||'].find((symbol) => this.#isAt(symbol))
    if (operator === undefined) return first
    const operands = [first]
    while (this.#lexer.accept(operator)) operands.push(this.#negation())
    if (this.#isAt('&&') || this.#isAt('||'))
      throw new MatchSyntax('put parentheses around && where it stands beside ||')
    return { kind: operator === '&&' ? 'and' : 'or', operands }
  }

  #isAt(symbol: string): boolean {
    const { token } = this.#lexer
    return token.kind === 'symbol' && token.text === symbol
  }

  #negation(): Expression {
    if (!this.#lexer.accept('!')) return this.#primary().expression
    this.#isNegated = !this.#isNegated
    const { expression, isAtomic } = this.#primary()
    this.#isNegated = !this.#isNegated
    if (!isAtomic) throw new MatchSyntax('put parentheses around what stands behind !')
    return { kind: 'not', operand: expression }
  }

  #primary(): Primary {
    if (this.#lexer.accept('(')) return { expression: this.#parenthesised(), isAtomic: true }
    if (this.#lexer.token.kind === 'name') return this.#lexer.isCall() ? this.#call() : this.#field()
    return this.#constantsFirst()
  }

  #parenthesised(): Expression {
    if (this.#depth >= deepest) throw new MatchSyntax(`nest at most ${deepest} parentheses`)
    this.#depth++
    const expression = this.expression()
    this.#depth--
    this.#expect(')')
    return expression
  }

  #expect(symbol: string): void {
    if (!this.#lexer.accept(symbol)) throw unexpected(this.#lexer.token, symbol)
  }

  #call(): Primary {
    const { text } = this.#lexer.take()
    if (text !== 'is_chassis_resident')
      throw new MatchSyntax(`remove ${text}(): the only function is is_chassis_resident`)
    this.#expect('(')
    if (this.#lexer.token.kind !== 'string')
      throw unexpected(this.#lexer.token, 'the name of a port in quotes')
    this.#lexer.take()
    this.#expect(')')
    return { expression: { kind: 'residence' }, isAtomic: true }
  }

  /** `field`, or `field == constants`. */
  #field(): Primary {
    const bits = this.#bits()
    const relation = this.#relation()
    if (relation === undefined) {
      if (bits.bits === 0) throw unexpected(this.#lexer.token, '== or !=')
      if (bits.bits > 1 && !this.#isNegated) throw new MatchSyntax(`write ${bits.name} != 0`)
      this.#compare(bits, '!=', { all: [zero], isOfText: false, numbers: [zero], inBraces: false })
      return { expression: { kind: 'field', field: bits }, isAtomic: true }
    }
    return { expression: this.#compare(bits, relation, this.#constants()), isAtomic: false }
  }

  /** `1`, `constants == field`, or `1 < field < 5`. */
  #constantsFirst(): Primary {
    const before = this.#constants()
    const first = this.#relation()
    if (first === undefined) {
      const [number] = before.numbers
      const isTruth = !before.inBraces && number !== undefined && ['0', '1'].includes(number.text)
      if (!isTruth) throw unexpected(this.#lexer.token, '== or another comparison')
      return { expression: { kind: 'truth', isTrue: number.text === '1' }, isAtomic: true }
    }
    if (this.#lexer.token.kind !== 'name') throw unexpected(this.#lexer.token, 'the name of a field')
    const bits = this.#bits()
    const second = this.#relation()
    const low = this.#compare(bits, turned[first], before)
    if (second === undefined) return { expression: low, isAtomic: false }
    const isRange = first !== '==' && first !== '!=' && second.startsWith(first[0] ?? '')
    if (!isRange) throw new MatchSyntax(`write a range of ${bits.name} as 1 <= ${bits.name} <= 5`)
    const high = this.#compare(bits, second, this.#constants())
    return { expression: { kind: 'and', operands: [low, high] }, isAtomic: false }
  }

  #bits(): Bits {
    const { text: name } = this.#lexer.take()
    const field = fields.get(name)
    if (field === undefined) throw new MatchSyntax(`write the name of a field in place of ${name}`)
    if (!this.#lexer.accept('[')) return { ...field, name, bits: field.width, isPart: false }
    const low = this.#index()
    const high = this.#lexer.accept('..') ? this.#index() : low
    this.#expect(']')
    if (low > high || high >= field.width)
      throw new MatchSyntax(
        `choose bits of ${name} from 0 to ${Math.max(0, field.width - 1)}, the lower one first`,
      )
    const bits = high - low + 1
    if (field.level === 'nominal' && bits !== field.width)
      throw new MatchSyntax(`compare all of ${name}, not some of its bits`)
    return { ...field, name, bits, isPart: true }
  }

  #index(): number {
    const token = this.#lexer.take()
    if (token.kind !== 'number' || token.format !== 'decimal' || token.isMasked)
      throw unexpected(token, 'the number of a bit')
    return Number(token.value)
  }

  #relation(): Relation | undefined {
    const { kind, text } = this.#lexer.token
    if (kind !== 'symbol' || !isRelation(text)) return undefined
    this.#lexer.take()
    return text
  }

  #constants(): Constants {
    const inBraces = this.#lexer.accept('{')
    const all = [this.#constant(), ...(inBraces ? this.#restOfList() : [])]
    const isOfText = isText(all[0])
    if (all.some((token) => isText(token) !== isOfText))
      throw new MatchSyntax('write numbers alone, or names of ports alone, between braces')
    // A set is a list, too.
    const isList = inBraces || all.some(({ kind }) => kind === 'set' || kind === 'group')
    return { all, isOfText, numbers: all.filter((token) => token.kind === 'number'), inBraces: isList }
  }

  #restOfList(): readonly Token[] {
    const rest: Token[] = []
    for (;;) {
      this.#lexer.accept(',')
      if (this.#lexer.accept('}')) return rest
      rest.push(this.#constant())
    }
  }

  #constant(): Token {
    const token = this.#lexer.take()
    if (!isConstant(token)) throw unexpected(token, 'a constant')
    return token
  }

  /** What OVN says of the comparison by the types of both. */
  #compare(field: Bits, relation: Relation, constants: Constants): Expression {
    const { name, width, level, isPredicate } = field
    if (constants.isOfText !== (width === 0))
      throw new MatchSyntax(
        width === 0 ? `compare ${name} with a name in quotes or a @group` : `compare ${name} with a number`,
      )
    const tooWide = constants.numbers.find((number) => number.width > width)
    if (tooWide !== undefined)
      throw new MatchSyntax(
        `compare ${name}, which has ${width} bits, with another constant than ${tooWide.text}`,
      )
    const isEquality = relation === '==' || relation === '!='
    if (
      !isEquality &&
      (level !== 'ordinal' || constants.inBraces || constants.numbers.some(({ isMasked }) => isMasked))
    )
      throw new MatchSyntax(`compare ${name} by == or != here`)
    const comparison = { kind: 'comparison', field, relation, constants: constants.all } as const
    if (level !== 'nominal') return comparison
    const isPositive = isPredicate
      ? constants.numbers.every(
          ({ value }) => (value % 2n === 1n) === ((relation === '==') !== this.#isNegated),
        )
      : (relation === '==') !== this.#isNegated
    if (!isPositive)
      throw new MatchSyntax(`say which ${name} it is, not which it is not: OVN can not tell all others`)
    return comparison
  }
}

/** What a field is compared with that stands alone. */
const zero: NumberToken = {
  ...{ kind: 'number', text: '0', format: 'decimal', value: 0n },
  width: 0,
  isMasked: false,
}

function isConstant({ kind }: Token): boolean {
  return kind === 'number' || kind === 'string' || kind === 'set' || kind === 'group'
}

function isText(token: Token | undefined): boolean {
  return token?.kind === 'string' || token?.kind === 'group'
}
