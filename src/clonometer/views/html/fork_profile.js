/* Profiles that `clonometer predict --save-profile` wrote. A file is a stranger's word: bounded, checked, never markup. */

const MOST_FILE_BYTES = 4 << 20;
const MOST_COUNT = 2 ** 45;
const MOST_GROUPS = 100_000;
const MOST_NAME = 40;
const PROFILE_SCHEMA = 1;

class ProfileError extends Error {}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isCount = (value) => Number.isInteger(value) && value >= 0 && value <= MOST_COUNT;

function featuresOf(value, what) {
  if (!isObject(value)) throw new ProfileError(`It has no ${what}.`);
  const strange = FIELDS.find((name) => !isCount(value[name] ?? 0));
  if (strange) throw new ProfileError(`Its ${what} have no count of ${strange}.`);
  const f = Object.fromEntries(FIELDS.map((name) => [name, value[name] ?? 0]));
  if (f.scattered_pages > f.placed_pages) throw new ProfileError("It has more scattered pages than were looked at.");
  if (f.anon_tables > f.anon_pages) throw new ProfileError("It has more page tables than pages.");
  if (f.hugetlb_pages && !f.hugetlb_page_bytes) throw new ProfileError("It has pages of hugetlbfs without a size.");
  return f;
}

/* What the page needs of a profile; raises a ProfileError that says what is wrong. */
function profileOf(content) {
  if (!isObject(content)) throw new ProfileError("It is no profile.");
  const schema = content.schema ?? PROFILE_SCHEMA;
  if (schema !== PROFILE_SCHEMA) throw new ProfileError(`It has schema ${String(schema).slice(0, 20)}, and this page reads ${PROFILE_SCHEMA}.`);
  const groups = content.groups ?? [];
  if (!Array.isArray(groups) || groups.length > MOST_GROUPS) throw new ProfileError("Its groups are no list.");
  const couldBeHuge = groups.reduce((sum, group) => {
    if (!isObject(group) || !isCount(group.could_be_huge)) throw new ProfileError("One of its groups has no could_be_huge.");
    return sum + group.could_be_huge;
  }, 0);
  const name = content.process ?? null;
  if (name !== null && typeof name !== "string") throw new ProfileError("Its process has no name.");
  return {
    name: name === null ? null : nameOf(name),
    features: featuresOf(content.features, "features"),
    least: content.least == null ? null : featuresOf(content.least, "least features"),
    most: content.most == null ? null : featuresOf(content.most, "most features"),
    couldBeHuge,
  };
}

/* Letters, digits and a few signs: a name that turns no text around and hides nothing. */
const nameOf = (text) => text.replace(/[^\p{L}\p{N} ._:@+/()-]/gu, "?").slice(0, MOST_NAME) || null;

async function readProfile(file) {
  if (file.size > MOST_FILE_BYTES) throw new ProfileError(`It has ${inBytes(file.size)}, and a profile has at most ${inBytes(MOST_FILE_BYTES)}.`);
  let content;
  try {
    content = JSON.parse(await file.text());
  } catch {
    throw new ProfileError("It is not JSON.");
  }
  return profileOf(content);
}

/* In an address: the counts in their order. */
const packed = (f) => FIELDS.map((name) => f[name].toString(36)).join(".");

function unpacked(text) {
  const numbers = text.split(".");
  if (numbers.length !== FIELDS.length || !numbers.every((each) => /^[0-9a-z]{1,10}$/.test(each))) throw new ProfileError("Its address is damaged.");
  return featuresOf(Object.fromEntries(FIELDS.map((name, index) => [name, parseInt(numbers[index], 36)])), "features");
}
