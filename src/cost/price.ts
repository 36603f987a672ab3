import { EspalierError, type Price } from '../model/index.ts'

/**
 * Parses the price of a CU-hour, such as `0.222USD`.
 *
 * @throws {EspalierError} `E_PRICE`
 */
export const parsePrice = (text: string): Price => {
  const [, amount = '', currency = ''] = /^(\d{1,3}(?:\.\d{1,6})?) ?([A-Z]{3})$/.exec(text) ?? []
  const cuHour = Number(amount)
  if (currency !== '' && cuHour > 0 && cuHour <= 100) return { cuHour, currency }
  throw new EspalierError('E_PRICE', `\`${text.slice(0, 40)}\` is not a price of a CU-hour.`, {
    hint: 'Write an amount above 0 and at most 100, with up to six decimals, and a currency: --price 0.222USD.',
  })
}
