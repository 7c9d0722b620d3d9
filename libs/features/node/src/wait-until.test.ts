import { expect, it } from 'vitest'
import { Observable } from './observable.ts'
import { waitUntil } from './wait-until.ts'

it('answers at once what is there already', async () => {
  const value = new Observable<number | undefined>(1)
  await expect(
    waitUntil(
      () => value.value,
      (recheck) => [value.onChange(recheck)],
      neverAborted(),
    ),
  ).resolves.toBe(1)
})

it('answers when a change brings it about', async () => {
  const value = new Observable<number | undefined>(undefined)
  const waiting = waitUntil(
    () => value.value,
    (recheck) => [value.onChange(recheck)],
    neverAborted(),
  )
  value.set(2)
  await expect(waiting).resolves.toBe(2)
})

it('rejects with the reason of an abort, and with what the function throws', async () => {
  const abort = new AbortController()
  const waiting = waitUntil(
    () => undefined,
    () => [],
    abort.signal,
  )
  abort.abort(new Error('client went away'))
  await expect(waiting).rejects.toThrow('client went away')
  const failing = waitUntil(
    () => {
      throw new Error('unreadable')
    },
    () => [],
    neverAborted(),
  )
  await expect(failing).rejects.toThrow('unreadable')
})

it('tells the listeners of an observable only of values that differ', () => {
  const value = new Observable(1)
  let calls = 0
  using subscription = value.onChange(() => {
    calls += 1
  })
  value.set(1)
  value.set(2)
  subscription[Symbol.dispose]()
  value.set(3)
  expect(calls).toBe(1)
})

function neverAborted(): AbortSignal {
  return new AbortController().signal
}
