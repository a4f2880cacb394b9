"""Words that many people are called by: how often they are met in a hundred people of a conference.

A small program cannot tell that Wang is a common name; this can. What is common in a larger one, it counts.
"""

FAMILY = {
    "wang": 6.0, "zhang": 5.5, "li": 6.0, "liu": 4.5, "chen": 4.5, "yang": 3.0, "zhao": 1.8, "wu": 2.0,
    "huang": 1.8, "zhou": 1.7, "xu": 2.0, "sun": 1.3, "lin": 1.4, "zhu": 1.2, "he": 1.0, "hu": 1.0,
    "guo": 1.0, "luo": 0.8, "gao": 0.8, "zheng": 0.7, "kim": 2.2, "lee": 1.8, "park": 0.8, "choi": 0.6,
    "nguyen": 0.7, "tran": 0.3, "singh": 0.4, "kumar": 0.5, "gupta": 0.3, "sharma": 0.3, "smith": 0.2,
    "garcia": 0.2, "muller": 0.1, "silva": 0.1, "jones": 0.1, "johnson": 0.1, "tanaka": 0.1, "suzuki": 0.1,
}  # fmt: skip
GIVEN = {
    "wei": 1.0, "yu": 0.9, "jing": 0.7, "yang": 0.7, "lei": 0.7, "jun": 0.7, "xin": 0.6, "hao": 0.6,
    "yi": 0.6, "ming": 0.5, "jie": 0.5, "bo": 0.6, "tao": 0.5, "ying": 0.5, "hui": 0.5, "yan": 0.5,
    "peng": 0.5, "xiang": 0.4, "feng": 0.4, "fei": 0.5, "kai": 0.5, "yong": 0.3, "chao": 0.5, "qi": 0.4,
    "rui": 0.4, "jian": 0.4, "bin": 0.4, "hong": 0.4, "yun": 0.3, "min": 0.4, "ping": 0.2, "xiao": 0.4,
    "michael": 0.4, "david": 0.5, "daniel": 0.4, "john": 0.3, "thomas": 0.3, "alexander": 0.3,
    "andrew": 0.3, "james": 0.2, "christopher": 0.2, "anna": 0.2, "maria": 0.2, "peter": 0.2,
}  # fmt: skip


def share(word: str) -> float:
    """Return the share of people with this word in their name, from 0 to 1; 0 where it is not known."""
    return (FAMILY.get(word, 0.0) + GIVEN.get(word, 0.0)) / 100
