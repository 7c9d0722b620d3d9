import { afterEach, expect } from 'vitest'

/**
 * Has each test fail that leaves a row in the Northbound which is of no object, as `kubectl ko explain` knows it.
 *
 * @param find tells the rows that go on to be of none
 */
export function refuseUnexplainedRows(find: () => Promise<readonly string[]>): void {
  afterEach(async () => {
    expect(await find(), 'rows that are of no object').toEqual([])
  })
}
