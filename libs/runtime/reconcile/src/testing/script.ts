import fc from 'fast-check'
import { layout, state, type Layout, type State } from './state.ts'

/** What goes wrong, or happens beside, at a certain point of the kernel's work. */
export type Act =
  | { readonly do: 'nothing' }
  /** Users change the objects. */
  | { readonly do: 'world'; readonly state: State }
  /** Somebody writes to the database. */
  | { readonly do: 'stranger'; readonly how: Vandalism; readonly draw: number }
  /** Somebody puts a finalizer on an object. */
  | { readonly do: 'finalizer'; readonly draw: number }
  /** From here on the process hears of no change of an object. */
  | { readonly do: 'stall' }
  /** It hears of all that it missed. */
  | { readonly do: 'catch up' }
  /** The connection to the database is lost. */
  | { readonly do: 'disconnect' }
  /** The same, and the transaction that is under way is carried out after the reconnect. */
  | { readonly do: 'delay' }
  /** The request under way is refused for no fault of its own. */
  | { readonly do: 'refuse' }
  /** The database is made anew, with no more in it than what strangers had there. */
  | { readonly do: 'remake' }
  /** The process dies, and another one starts. */
  | { readonly do: 'crash' }

/** What strangers do to rows of ours. */
const vandalisms = ['clear', 'delete', 'empty', 'unmark', 'misown', 'mislabel', 'copy', 'join'] as const
export type Vandalism = (typeof vandalisms)[number]

/** Where acts happen: before a transaction or patch takes effect, and between its effect and its answer. */
export type Point = 'transact' | 'committed' | 'patch' | 'patched'

export interface Script {
  readonly layout: Layout
  /** Draws the order in which keys are named. */
  readonly order: number
  /** What happens when the kernel has nothing to do. */
  readonly scenes: readonly Act[]
  /** What happens at each point, the first time, the second time, … */
  readonly interruptions: Readonly<Record<Point, readonly Act[]>>
  /** What is so in the end. */
  readonly last: State
}

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Act>({ do: 'nothing' }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('world' as const), state }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('stranger' as const),
      how: fc.constantFrom(...vandalisms),
      draw: fc.nat(1000),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('finalizer' as const), draw: fc.nat(1000) }) },
  { weight: 2, arbitrary: fc.constantFrom<Act>({ do: 'stall' }, { do: 'stall' }, { do: 'catch up' }) },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Act>(
      { do: 'disconnect' },
      { do: 'delay' },
      { do: 'refuse' },
      { do: 'crash' },
      { do: 'remake' },
    ),
  },
)

const acts = fc.array(act, { maxLength: 6 })

export const script: fc.Arbitrary<Script> = fc.record({
  layout,
  order: fc.nat(1000),
  scenes: fc.array(act, { minLength: 1, maxLength: 6 }),
  interruptions: fc.record({ transact: acts, committed: acts, patch: acts, patched: acts }),
  last: state,
})
