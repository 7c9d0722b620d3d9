import { InvalidMatchError } from './errors.ts'
import { fields, type Field } from './fields.ts'
import { Lexer, MatchSyntax, type NumberToken, type Token } from './lexer.ts'
import { isRelation, turned, type Relation } from './relation.ts'

/** OVN reads 100, with those that ovn-northd puts around an expression. */
const deepest = 90

/** Constants that a field is compared with. */
interface Constants {
  readonly isOfText: boolean
  readonly numbers: readonly NumberToken[]
  readonly inBraces: boolean
}

/** A field, or some of its bits. */
interface Bits extends Field {
  readonly name: string
  readonly bits: number
}

/**
 * Checks that a text is one match expression, as ovn-controller would read it: what is none is passed on by ovn-northd, and makes
 * flows that do something else, or nothing.
 *
 * Whether address sets and port groups exist is not checked.
 *
 * @throws InvalidMatchError
 * @see ovn-sb(5), Logical_Flow, match; lib/expr.c of OVN
 */
export function checkMatch(text: string, field: string): void {
  try {
    const lexer = new Lexer(text)
    new Checker(lexer).expression()
    if (lexer.token.kind !== 'end') throw unexpected(lexer.token, 'the end, && or ||')
  } catch (error) {
    if (error instanceof MatchSyntax) throw new InvalidMatchError({ field, value: text, cure: error.cure })
    throw error
  }
}

function unexpected(token: Token, wanted: string): MatchSyntax {
  return new MatchSyntax(`write ${wanted} in place of ${token.kind === 'end' ? 'the end' : token.text}`)
}

class Checker {
  readonly #lexer: Lexer
  #isNegated = false
  #depth = 0

  constructor(lexer: Lexer) {
    this.#lexer = lexer
  }

  /** @throws MatchSyntax as all of them */
  expression(): void {
    this.#negation()
    const operator = ['&&', '||'].find((symbol) => this.#isAt(symbol))
    if (operator === undefined) return
    while (this.#lexer.accept(operator)) this.#negation()
    if (this.#isAt('&&') || this.#isAt('||'))
      throw new MatchSyntax('put parentheses around && where it stands beside ||')
  }

  #isAt(symbol: string): boolean {
    const { token } = this.#lexer
    return token.kind === 'symbol' && token.text === symbol
  }

  #negation(): void {
    if (!this.#lexer.accept('!')) return void this.#primary()
    this.#isNegated = !this.#isNegated
    const isAtomic = this.#primary()
    this.#isNegated = !this.#isNegated
    if (!isAtomic) throw new MatchSyntax('put parentheses around what stands behind !')
  }

  /** Whether what was read can stand behind `!` without parentheses. */
  #primary(): boolean {
    if (this.#lexer.accept('(')) return this.#parenthesised()
    if (this.#lexer.token.kind === 'name') return this.#lexer.isCall() ? this.#call() : this.#field()
    return this.#constantsFirst()
  }

  #parenthesised(): true {
    if (this.#depth >= deepest) throw new MatchSyntax(`nest at most ${deepest} parentheses`)
    this.#depth++
    this.expression()
    this.#depth--
    this.#expect(')')
    return true
  }

  #expect(symbol: string): void {
    if (!this.#lexer.accept(symbol)) throw unexpected(this.#lexer.token, symbol)
  }

  #call(): true {
    const { text } = this.#lexer.take()
    if (text !== 'is_chassis_resident')
      throw new MatchSyntax(`remove ${text}(): the only function is is_chassis_resident`)
    this.#expect('(')
    if (this.#lexer.token.kind !== 'string')
      throw unexpected(this.#lexer.token, 'the name of a port in quotes')
    this.#lexer.take()
    this.#expect(')')
    return true
  }

  /** `field`, or `field == constants`. */
  #field(): boolean {
    const bits = this.#bits()
    const relation = this.#relation()
    if (relation === undefined) {
      if (bits.bits === 0) throw unexpected(this.#lexer.token, '== or !=')
      if (bits.bits > 1 && !this.#isNegated) throw new MatchSyntax(`write ${bits.name} != 0`)
      this.#compare(bits, '!=', { isOfText: false, numbers: [zero], inBraces: false })
      return true
    }
    this.#compare(bits, relation, this.#constants())
    return false
  }

  /** `1`, `constants == field`, or `1 < field < 5`. */
  #constantsFirst(): boolean {
    const before = this.#constants()
    const first = this.#relation()
    if (first === undefined) {
      const [number] = before.numbers
      const isTruth = !before.inBraces && number !== undefined && ['0', '1'].includes(number.text)
      if (!isTruth) throw unexpected(this.#lexer.token, '== or another comparison')
      return true
    }
    if (this.#lexer.token.kind !== 'name') throw unexpected(this.#lexer.token, 'the name of a field')
    const bits = this.#bits()
    const second = this.#relation()
    this.#compare(bits, turned[first], before)
    if (second === undefined) return false
    const isRange = first !== '==' && first !== '!=' && second.startsWith(first[0] ?? '')
    if (!isRange) throw new MatchSyntax(`write a range of ${bits.name} as 1 <= ${bits.name} <= 5`)
    this.#compare(bits, second, this.#constants())
    return false
  }

  #bits(): Bits {
    const { text: name } = this.#lexer.take()
    const field = fields.get(name)
    if (field === undefined) throw new MatchSyntax(`write the name of a field in place of ${name}`)
    if (!this.#lexer.accept('[')) return { ...field, name, bits: field.width }
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
    return { ...field, name, bits }
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
    return { isOfText, numbers: all.filter((token) => token.kind === 'number'), inBraces: isList }
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
  #compare(bits: Bits, relation: Relation, constants: Constants): void {
    const { name, width, level, isPredicate } = bits
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
    if (level !== 'nominal') return
    const isPositive = isPredicate
      ? constants.numbers.every(
          ({ value }) => (value % 2n === 1n) === ((relation === '==') !== this.#isNegated),
        )
      : (relation === '==') !== this.#isNegated
    if (!isPositive)
      throw new MatchSyntax(`say which ${name} it is, not which it is not: OVN can not tell all others`)
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
