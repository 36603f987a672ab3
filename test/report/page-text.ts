/** The text of a page without styles and scripts, one line per block. */
export const textOf = (html: string): string =>
  html
    .replace(/<(style|script|symbol)\b[^>]*>.*?<\/\1>/gs, '')
    .replace(/<\/?(p|li|h\d|div|section|tr|dt|dd|summary|header|main|footer|pre|text|label|option)\b[^>]*>/g, '\n')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&')
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
    .join('\n')
