import { expect, it } from 'vitest'
import { GatewayAnswers } from './gateway-answers.ts'

/** Rounds of answers of n1, n2, …, in words like `++-`. */
function after(...rounds: readonly string[]): readonly string[] {
  const answers = new GatewayAnswers()
  for (const round of rounds)
    answers.round(new Map(Array.from(round, (sign, n) => [`n${n + 1}`, sign === '+'] as const)))
  return answers.silent
}

const times = (count: number, round: string) => Array.from({ length: count }, () => round)

it('takes a node for silent that misses four rounds in a row', () => {
  expect(after('++', ...times(3, '+-'))).toEqual([])
  expect(after('++', ...times(4, '+-'))).toEqual(['n2'])
  expect(after('++', ...times(3, '+-'), '++', ...times(3, '+-'))).toEqual([])
})

it('takes it back after four answers in a row', () => {
  const gone = ['++', ...times(4, '+-')]
  expect(after(...gone, ...times(3, '++'))).toEqual(['n2'])
  expect(after(...gone, ...times(3, '++'), '+-', ...times(3, '++'))).toEqual(['n2'])
  expect(after(...gone, ...times(4, '++'))).toEqual([])
})

it('never judges who has not answered yet', () => {
  expect(after(...times(9, '++-'))).toEqual([])
})

it('judges nobody while most do not answer', () => {
  expect(after('+++', ...times(9, '+--'))).toEqual([])
  expect(after('+++', ...times(9, '---'))).toEqual([])
  expect(after('+++', ...times(2, '++-'), ...times(9, '---'), '++-')).toEqual([])
  expect(after('+++', ...times(2, '++-'), ...times(9, '---'), ...times(2, '++-'))).toEqual(['n3'])
})

it('begins anew with who is not asked for a while, and can fall silent at once', () => {
  const gone = ['++', ...times(4, '+-'), '+']
  expect(after(...gone)).toEqual([])
  expect(after(...gone, ...times(3, '+-'))).toEqual([])
  expect(after(...gone, ...times(4, '+-'))).toEqual(['n2'])
})

it('never judges who has been forgotten, until he answers again', () => {
  const answers = new GatewayAnswers()
  const ask = (isAnswer: boolean): void =>
    answers.round(
      new Map([
        ['n1', true],
        ['n2', isAnswer],
      ]),
    )
  ask(true)
  answers.forget('n2')
  for (let count = 0; count < 9; count++) ask(false)
  expect(answers.silent).toEqual([])
  ask(true)
  for (let count = 0; count < 4; count++) ask(false)
  expect(answers.silent).toEqual(['n2'])
})

it('judges who has answered in a round that is not over', () => {
  const answers = new GatewayAnswers()
  answers.answered('n2')
  const round = new Map([
    ['n1', true],
    ['n2', false],
  ])
  for (let count = 0; count < 4; count++) answers.round(round)
  expect(answers.silent).toEqual(['n2'])
})
